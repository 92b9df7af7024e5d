/**
 * Invariants of every model request: I15 (pairing, roles), I20 (exactly the context that the journal gives), I26 (text
 * of others only in frames), I4/I6 (each outcome once, and only after its delivery), D11 (open children are shown),
 * I19.
 */

import type { ContextMessage, ModelRequest } from "../../../src/index.ts";
import { demand } from "./violation.ts";
import { descends, liveAgent, type WatchedAgent, type WatchedTree } from "./watched-tree.ts";

export interface SeenRequest {
  readonly tree: WatchedTree;
  readonly agent: WatchedAgent;
  readonly request: ModelRequest;
  /** JSON text of its messages. */
  readonly given: string;
  /** True if the model is asked to summarise the earlier conversation. */
  readonly compacting: boolean;
  /** JSON text of the messages that the fold of the journal gives, or null if its texts were erased. */
  readonly expected: string | null;
  /** The number of the agent that wrote a token; null for people. */
  readonly author: (token: string) => number | null;
}

export function checkRequest(seen: SeenRequest): void {
  const { tree, agent, request } = seen;
  demand(
    "I19",
    liveAgent(tree, agent.number) !== undefined,
    () => `the model of agent ${agent.number}, which is gone, is called`,
  );
  const { messages } = request;
  checkRoles(messages);
  const rights = request.tools.filter((tool) => ORDINARY.has(tool.name)).map((tool) => tool.name);
  demand(
    "I18",
    rights.every((name) => agent.tools.includes(name)),
    () => `agent ${agent.number} is offered ${rights.join()}`,
  );
  if (seen.expected !== null) {
    demand(
      "I20",
      seen.given === seen.expected,
      () => `agent ${agent.number} is sent ${seen.given} where the journal says ${seen.expected}`,
    );
  }
  for (const message of messages) {
    checkFrames(seen, message);
    checkSizes(seen, message);
  }
  checkOutcomes(seen);
}

const ORDINARY = new Set(["look", "strike"]);

export function checkRoles(messages: readonly ContextMessage[]): void {
  demand("I15", messages[0]?.role === "user", () => `a context begins with ${messages[0]?.role}`);
  for (const [index, message] of messages.entries()) {
    const after = messages[index + 1];
    const calls = message.role === "assistant" ? message.parts.filter((part) => part.type === "tool-call") : [];
    const results = after?.role === "tool" ? after.results.map((result) => result.id) : [];
    const paired = calls.map((call) => call.id).join() === results.join();
    demand("I15", paired, () => `calls ${calls.map((call) => call.id).join()} are answered by ${results.join()}`);
    const next = after?.role ?? "end";
    const allowed = {
      user: "assistant end",
      assistant: calls.length > 0 ? "tool" : "user",
      tool: "assistant user end",
    };
    demand("I15", allowed[message.role].includes(next), () => `${message.role} is followed by ${next} at ${index}`);
  }
}

const TOKEN = /tk\d+k/g;
const FRAME = /<(findings|system_message|message_for_user) origin="([^"]+)">\n[^]*?\n<\/\1>/g;

/** What an outside child says about its failure: a JSON string in the line about how its run ended. */
const QUOTED_ERROR = /(?<= failed: )"(?:[^"\\\n]|\\.)*"/g;

/** I26: text of another agent is in a frame with its author, or in a JSON string of a result or of a failure. */
function checkFrames({ tree, agent, author }: SeenRequest, message: ContextMessage): void {
  if (message.role === "assistant") return;
  const foreign = (text: string): { at: number; by: number; token: string }[] =>
    [...text.matchAll(TOKEN)].flatMap((found) => {
      const by = author(found[0]);
      const own = by === null || by === agent.number || descends(tree, agent.number, by);
      return own ? [] : [{ at: found.index, by, token: found[0] }];
    });
  if (message.role === "tool") {
    for (const { text } of message.results) {
      if (foreign(text).length === 0) continue;
      demand("I26", jsonIs(text), () => `words of a child stand bare in the result ${text}`);
    }
    return;
  }
  const words = foreign(message.text);
  if (words.length === 0) return;
  const frames = [...message.text.matchAll(FRAME)].map((found) => ({
    from: found.index,
    to: found.index + found[0].length,
    origin: found[2] ?? "",
  }));
  for (const { at, by, token } of words) {
    const frame = frames.find(({ from, to }) => from < at && at < to);
    if (quotedAt(message.text, at)) continue;
    const framed = frame !== undefined && frame.origin === tree.agents.get(by)?.id;
    demand("I26", framed, () => `${token} of agent ${by} stands outside its frame: ${message.text}`);
  }
}

function quotedAt(text: string, at: number): boolean {
  const found = [...text.matchAll(QUOTED_ERROR)].find(({ index, 0: { length } }) => index < at && at < index + length);
  return found !== undefined && jsonIs(found[0]);
}

function jsonIs(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** F5: a child's payload in a context (text, artifacts and data together) is within the cap. */
function checkSizes({ tree }: SeenRequest, message: ContextMessage): void {
  const cap = tree.settings?.limits.summaryBytes ?? 0;
  for (const { name, text, failed } of message.role === "tool" ? message.results : []) {
    if (name !== "subagent" || failed) continue;
    const { summary = "", artifacts = [], data } = JSON.parse(text) as Payload;
    const values = artifacts.map(({ value }) => value).join("");
    const bytes = Buffer.byteLength(summary + values + (data === undefined ? "" : JSON.stringify(data)));
    demand("F5", bytes <= cap, () => `a payload brings ${bytes} bytes, and ${cap} are allowed`);
  }
}

interface Payload {
  readonly summary?: string;
  readonly artifacts?: readonly { readonly value: string }[];
  readonly data?: unknown;
}

const PAYLOAD = /"run_id":"([0-9a-f-]{36})","report"/g;
/** How an announcement's part about a run begins, for one run or one of several. */
const ANNOUNCED = /^(?:Background task|### Task \d+:) "(.*?)"(?: |$)/gm;

/** The ids of the runs whose outcomes a context has. Announcements name runs; names are unique in a simulation. */
function outcomesIn(tree: WatchedTree, agent: WatchedAgent, texts: readonly string[]): string[] {
  const whole = texts.join("\n");
  const named = [...whole.replaceAll(FRAME, "").matchAll(ANNOUNCED)].flatMap(([, name]) => {
    const run = [...tree.runs.values()].find((known) => known.parent === agent.number && known.name === name);
    return run === undefined ? [] : [run.id];
  });
  return [...[...whole.matchAll(PAYLOAD)].map(([, id = ""]) => id), ...named];
}

function checkOutcomes({ tree, agent, request, compacting }: SeenRequest): void {
  const texts = request.messages.flatMap((message) => {
    if (message.role === "user") return [message.text];
    return message.role === "tool" ? message.results.map((result) => result.text) : [];
  });
  const whole = texts.join("\n");
  const seen = new Set<string>();
  for (const id of outcomesIn(tree, agent, texts)) {
    const run = [...tree.runs.values()].find((known) => known.id === id);
    if (run === undefined) continue;
    demand(
      "I6",
      run.parent === agent.number && run.told.length === 1,
      () => `run ${run.number} is seen before it is told`,
    );
    demand(
      "I4",
      !seen.has(id),
      () => `the outcome of run ${run.number} stands twice in the context of agent ${agent.number}`,
    );
    seen.add(id);
  }
  if (compacting) {
    // Outcomes in the summarised part were seen there.
    for (const id of agent.owed) if (seen.has(id) || whole.includes(id)) agent.owed.delete(id);
    return;
  }
  for (const id of agent.owed) {
    const there = seen.has(id) || whole.includes(id);
    demand("I4", there, () => `${id} was told to agent ${agent.number}, which does not see it`);
  }
  agent.owed.clear();
  for (const id of agent.sight) {
    const inSight = whole.includes(`[run ${id} `) || acceptedLast(request.messages, id);
    demand("D11", inSight, () => `run ${id} is open and agent ${agent.number} does not see it`);
  }
}

/** True if the newest message has the acceptance of the run: then it needs no status line. */
function acceptedLast(messages: readonly ContextMessage[], id: string): boolean {
  const end = messages.at(-1);
  const linesOnly = end?.role === "user" && end.text.split("\n").every((line) => line.startsWith("[run "));
  const last = linesOnly ? messages.at(-2) : end;
  return (
    last?.role === "tool" && last.results.some(({ text }) => text.startsWith(`{"status":"accepted","run_id":"${id}"`))
  );
}
