/**
 * The reference scenario: a conversation in which an agent starts two background children, waits for a third, answers,
 * is told of the two, answers again, and is asked once more.
 *
 * Invariants:
 *  1. What a model says follows from its request alone, so that a conversation goes on the same way after any restart.
 *  2. The tool `strike` is not safe to repeat: each of its calls has a token, and leaves one line with it in a file
 *     outside the store.
 *  3. The channel leaves one line for every message that it was given, in another such file, before it takes it.
 */

import { closeSync, openSync, writevSync } from "node:fs";
import type { AgentOptions, Channel, ModelProvider, ModelRequest, Tool } from "../../src/index.ts";
import {
  callTool,
  callTools,
  createScriptedModel,
  hang,
  say,
  type Script,
  type ScriptedReply,
  type ScriptedSituation,
} from "../../src/testing/index.ts";

export const GO = "Please find out about";
export const MORE = "Anything else about";

/** What a conversation says to its user, in this order, each once. */
export function expectedMessages(name: string): readonly string[] {
  return [`${name}: working on it`, `${name}: here is the answer`, `${name}: nothing else`];
}

/** The tokens of a conversation's unsafe calls. */
export function expectedTokens(name: string): readonly string[] {
  return [`${name}/awaited`, `${name}/first`];
}

export const DEFINITIONS: Readonly<Record<string, AgentOptions>> = {
  orchestrator: { prompt: "You are the parent.", model: "scripted/parent" },
  worker: { prompt: "You are a child.", model: "scripted/child" },
  researcher: { prompt: "You are a child.", model: "scripted/child" },
};

/** Waits where a real model or tool would; null to act at once, so that what is begun too early is seen. */
export type Pause = (() => Promise<void>) | null;

/**
 * Each call gets a model of its own: a scripted model keeps all its requests, which would fill the memory of a long
 * run.
 */
export function referenceModels(pause: Pause): ModelProvider {
  const scripts = new Map<string, Script>([
    [
      "scripted/parent",
      async (request) => {
        if (pause !== null) await pause();
        return parentReply(request);
      },
    ],
    [
      "scripted/child",
      async (request, situation) => {
        if (situation.task.includes(HANGS)) return hang();
        if (pause !== null) await pause();
        return childReply(request, situation);
      },
    ],
  ]);
  return {
    resolve(name) {
      const script = scripts.get(name);
      if (script === undefined) return { unavailable: `There is no script for the model ${name}.` };
      return { model: createScriptedModel(script), facts: { window: null, price: null } };
    },
  };
}

/** A task that no model ever answers. */
export const HANGS = "wait for ever";

function parentReply(request: ModelRequest): ScriptedReply {
  const asked = request.messages[lastAsked(request)];
  const newest = asked?.role === "user" ? asked.text : "";
  const name = /\bconversation-\d+/.exec(JSON.stringify(request.messages))?.[0] ?? "nobody";
  const [working = "", answer = "", nothing = ""] = expectedMessages(name);
  if (newest.startsWith(MORE)) return say(nothing);
  if (!newest.startsWith(GO)) return say(answer);
  const replies = repliesSince(request);
  if (replies === 0) {
    return callTools([
      { name: "start_background_agent", input: { task: `${name}/first`, label: "first" } },
      { name: "start_background_agent", input: { task: `${name}/second`, label: "second" } },
    ]);
  }
  return replies === 1 ? callTool("subagent", { task: `${name}/awaited` }) : say(working);
}

function childReply(request: ModelRequest, { task }: ScriptedSituation): ScriptedReply {
  const token = /\bconversation-\d+\/\w+/.exec(task)?.[0] ?? "nobody/nothing";
  const replies = repliesSince(request);
  if (replies === 0) return callTool(token.endsWith("/second") ? "look" : "strike", { token });
  if (replies > 1) return say("That was all.");
  const seen = lastResult(request);
  return callTool("send_agent_message", { text: `${token}: ${/outcome unknown/.test(seen) ? "unknown" : seen}` });
}

/** The newest message that asks for something: lines about open runs, at the end of a request, do not. */
function lastAsked(request: ModelRequest): number {
  return request.messages.findLastIndex((message) => message.role === "user" && !message.text.startsWith("[run "));
}

function repliesSince(request: ModelRequest): number {
  return request.messages.slice(lastAsked(request)).filter((message) => message.role === "assistant").length;
}

function lastResult(request: ModelRequest): string {
  const last = request.messages.findLast((message) => message.role === "tool");
  return last?.role === "tool" ? (last.results.at(-1)?.text ?? "") : "";
}

export function referenceTools(toolFile: string, pause: Pause, echo: (line: object) => void): readonly Tool[] {
  const schema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
  return [
    {
      name: "strike",
      description: "Strikes once.",
      schema,
      safe: false,
      async run(input) {
        const token = tokenOf(input);
        if (pause !== null) await pause();
        append(toolFile, token);
        echo({ struck: token });
        if (pause !== null) await pause();
        return { text: "struck", failed: false };
      },
    },
    { name: "look", description: "Looks.", schema, safe: true, run: async () => ({ text: "seen", failed: false }) },
  ];
}

/** One line by one system call, which is not `write`: so that it can be told from what Node.js itself writes. */
function append(path: string, line: string): void {
  const file = openSync(path, "a");
  writevSync(file, [Buffer.from(line), Buffer.from("\n")]);
  closeSync(file);
}

function tokenOf(input: unknown): string {
  if (typeof input !== "object" || input === null || !("token" in input)) return "none";
  return String(input.token);
}

export function referenceChannel(channelFile: string, pause: Pause, echo: (line: object) => void): Channel {
  return {
    async deliver({ id, text, repeated }) {
      if (pause !== null) await pause();
      append(channelFile, JSON.stringify({ id, text, repeated }));
      echo({ delivered: id, text, repeated });
    },
  };
}
