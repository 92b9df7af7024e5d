/**
 * The floor: the least that a program for this one workload can do. It has no library, no schemas, no limits, no
 * recovery. Each step of the conversation is one commit: the question; the parent's call with the child's task; the
 * child's call; the result of its tool; the child's answer with the parent's copy of it; the parent's answer. Six.
 */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { answerFor, CHILD_PROMPT, itemIn, lookUp, PARENT_PROMPT, tasksFor } from "../script.mjs";

async function parentModel(messages) {
  const last = messages.at(-1);
  if (last.role === "tool") return { text: answerFor(last.results) };
  return { calls: tasksFor(last.text) };
}

async function childModel(messages) {
  const last = messages.at(-1);
  return last.role === "tool" ? { text: last.results[0] } : { lookup: itemIn(last.text) };
}

function memory() {
  return { commit: () => {}, close: () => {} };
}

function sqlite(path, durability) {
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal");
  database.exec(`pragma synchronous = ${durability === "full" ? "full" : "normal"}`);
  database.exec(
    "create table if not exists steps (agent text, seq integer, message text, primary key (agent, seq)) without rowid",
  );
  const insert = database.prepare("insert into steps values (?, ?, ?)");
  const begin = database.prepare("begin");
  const end = database.prepare("commit");
  return {
    commit(rows) {
      begin.run();
      for (const { agent, seq, message } of rows) insert.run(agent, seq, JSON.stringify(message));
      end.run();
    },
    close: () => database.close(),
  };
}

export async function open({ path, durability }) {
  const store = path === null ? memory() : sqlite(path, durability);

  function newAgent(prompt) {
    return { id: randomUUID(), messages: [{ role: "system", text: prompt }] };
  }

  /** Adds a message to a conversation, and returns the row to commit. */
  function add(agent, message) {
    agent.messages.push(message);
    return { agent: agent.id, seq: agent.messages.length, message };
  }

  /** Works on a stored task. Returns the answer and its row, which is part of the parent's next commit. */
  async function work(child) {
    const asked = await childModel(child.messages);
    store.commit([add(child, { role: "assistant", ...asked })]);
    store.commit([add(child, { role: "tool", results: [lookUp(asked.lookup)] })]);
    const { text } = await childModel(child.messages);
    return { text, row: add(child, { role: "assistant", text }) };
  }

  return {
    async conversation() {
      const parent = newAgent(PARENT_PROMPT);
      return async (message) => {
        store.commit([add(parent, { role: "user", text: message })]);
        const asked = await parentModel(parent.messages);
        const children = asked.calls.map(() => newAgent(CHILD_PROMPT));
        store.commit([
          add(parent, { role: "assistant", ...asked }),
          ...children.map((child, index) => add(child, { role: "user", text: asked.calls[index] })),
        ]);
        const answers = await Promise.all(children.map(work));
        store.commit([
          ...answers.map(({ row }) => row),
          add(parent, { role: "tool", results: answers.map(({ text }) => text) }),
        ]);
        const { text } = await parentModel(parent.messages);
        store.commit([add(parent, { role: "assistant", text })]);
        return text;
      };
    },
    close: async () => store.close(),
  };
}
