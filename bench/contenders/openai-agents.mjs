/**
 * OpenAI Agents SDK: the child is a tool of the parent (`asTool`), a conversation is a session. The SDK for JavaScript
 * has only a session in memory, and its documentation says to write another one for storage: this one uses SQLite. It
 * stores the messages of the parent, not those of the child.
 */
import { DatabaseSync } from "node:sqlite";
import { Agent, MemorySession, Runner, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

setTracingDisabled(true);

let replies = 0;
function response(output) {
  replies += 1;
  const usage = new Usage({ requests: 1, inputTokens: 100, outputTokens: 20, totalTokens: 120 });
  return { usage, output, responseId: `response_${replies}` };
}
const says = (text) =>
  response([
    {
      id: `message_${replies}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text }],
    },
  ]);
const calls = (name, inputs) =>
  response(
    inputs.map((input, index) => ({
      type: "function_call",
      id: `function_${replies}_${index}`,
      callId: `call_${replies}_${index}`,
      name,
      status: "completed",
      arguments: JSON.stringify(input),
    })),
  );

const textOf = (item) =>
  typeof item.content === "string" ? item.content : item.content.map((part) => part.text ?? "").join("");
const resultText = ({ output }) =>
  typeof output === "string" ? output : Array.isArray(output) ? output.map((part) => part.text).join("") : output.text;

function scripted(reply) {
  return {
    async getResponse({ input }) {
      if (typeof input === "string") return reply(input, []);
      const from = input.findLastIndex((item) => item.type !== "function_call_result") + 1;
      return from < input.length ? reply("", input.slice(from).map(resultText)) : reply(textOf(input.at(-1)), []);
    },
    getStreamedResponse() {
      throw new Error("nobody streams here");
    },
  };
}

const childAgent = new Agent({
  name: "child",
  instructions: CHILD_PROMPT,
  model: scripted((text, results) =>
    results.length > 0 ? says(results[0]) : calls("lookup", [{ key: itemIn(text) }]),
  ),
  tools: [
    tool({
      name: "lookup",
      description: "Looks an item up.",
      parameters: z.object({ key: z.string() }),
      execute: async ({ key }) => lookUp(key),
    }),
  ],
});

const parentAgent = new Agent({
  name: "parent",
  instructions: PARENT_PROMPT,
  model: scripted((text, results) =>
    results.length > 0
      ? says(answerFor(results))
      : calls(
          "child",
          tasksFor(text).map((task) => ({ input: task })),
        ),
  ),
  tools: [childAgent.asTool({ toolName: "child", toolDescription: "Hands a task to a child." })],
});

function sqliteSession(database, id) {
  const insert = database.prepare("insert into items (session, item) values (?, ?)");
  const all = database.prepare("select item from items where session = ? order by id");
  const newest = database.prepare("select item from items where session = ? order by id desc limit ?");
  const pop = database.prepare(
    "delete from items where id = (select max(id) from items where session = ?) returning item",
  );
  const clear = database.prepare("delete from items where session = ?");
  return {
    getSessionId: async () => id,
    async getItems(limit) {
      const rows = limit === undefined ? all.all(id) : newest.all(id, limit).toReversed();
      return rows.map(({ item }) => JSON.parse(item));
    },
    async addItems(items) {
      database.exec("begin");
      for (const item of items) insert.run(id, JSON.stringify(item));
      database.exec("commit");
    },
    async popItem() {
      const row = pop.get(id);
      return row === undefined ? undefined : JSON.parse(row.item);
    },
    clearSession: async () => void clear.run(id),
  };
}

function openDatabase(path, durability) {
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal");
  database.exec(`pragma synchronous = ${durability === "full" ? "full" : "normal"}`);
  database.exec("create table if not exists items (id integer primary key, session text, item text)");
  database.exec("create index if not exists items_of_session on items (session, id)");
  return database;
}

export async function open({ path, durability }) {
  const runner = new Runner({ tracingDisabled: true });
  const database = path === null ? null : openDatabase(path, durability);
  let sessions = 0;
  return {
    async conversation() {
      sessions += 1;
      const session =
        database === null ? new MemorySession() : sqliteSession(database, `session-${process.pid}-${sessions}`);
      return async (message) => (await runner.run(parentAgent, message, { session })).finalOutput;
    },
    close: async () => database?.close(),
  };
}
