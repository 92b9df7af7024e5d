/**
 * The cases for the delegation tools. Each is one request to an agent, and a check of the journal and the run records.
 * The wording of models is not checked. By default scripts reply like a model that follows its instructions.
 */

import type { AgentOptions, ErrandOptions, Tool } from "../src/index.ts";
import { byContext, callTool, callTools, malformedCall, say, type Script } from "../src/testing/index.ts";
import { called, nudges, type Observed, outcome, refusals, relayed, told } from "./observed.ts";

/** A model with an unreachable server. */
export const UNAVAILABLE = "evals/unavailable";

export interface EvalCase {
  readonly name: string;
  /** The message to the agent. */
  readonly request: string;
  readonly options?: Pick<ErrandOptions, "limits" | "subagentEnabled" | "tools">;
  readonly child?: Partial<AgentOptions>;
  readonly scripts: { readonly parent: Script; readonly child: Script };
  /** The expectations that do not hold. */
  check(observed: Observed): readonly string[];
}

const reported = { state: "ended", status: "ok", reason: null, report: "tool" };

function asksOnce(task: string, more: Record<string, number> = {}): Script {
  return byContext([callTool("subagent", { task, ...more }), say("Done.")]);
}

const report = callTool("send_agent_message", { text: "heron", final: true });
const reports: Script = () => report;

/** Waits until it is aborted. */
const waitTool: Tool = {
  name: "wait",
  description: "Waits.",
  schema: { type: "object" },
  safe: true,
  run: (_input, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ text: "stopped", failed: true }), { once: true });
    }),
};

/** Longer than its case's limit, but short enough for a model to copy. */
const BOOK = Array.from({ length: 40 }, (_, line) => `Line ${line + 1}: a heron stands in the water.`).join("\n");

const bookTool: Tool = {
  name: "book",
  description: "Gives the text of a small book.",
  schema: { type: "object" },
  safe: true,
  run: async () => ({ text: BOOK, failed: false }),
};

/** Delegates, and reads the rest by the id in the payload. */
const readsTheRest: Script = (request, { replies }) => {
  if (replies === 0) return callTool("subagent", { task: "Report the book." });
  const told = request.messages.findLast((message) => message.role === "tool");
  const run = /"run_id":"([^"]+)"/.exec(told?.role === "tool" ? (told.results[0]?.text ?? "") : "")?.[1] ?? "";
  return replies === 1 ? callTool("read_result", { run_id: run, offset: 400 }) : say("Line 40.");
};

export const cases: readonly EvalCase[] = [
  {
    name: "success",
    request: 'Call subagent once, with the task "Report the word heron." Then tell me the word.',
    scripts: { parent: asksOnce("Report the word heron."), child: reports },
    check: (observed) => outcome(observed, [{ ...reported, mode: "awaited", nudged: false }]),
  },
  {
    name: "background",
    request:
      'Call start_background_agent twice in one reply, with the tasks "Report the word heron." and "Report ' +
      'the word wren." Then answer, and tell me the words when you hear of them.',
    scripts: {
      parent: byContext([
        callTools([
          { name: "start_background_agent", input: { task: "Report the word heron." } },
          { name: "start_background_agent", input: { task: "Report the word wren." } },
        ]),
        say("Started."),
        say("Both are here."),
      ]),
      child: reports,
    },
    check: (observed) => [
      ...outcome(observed, [
        { ...reported, mode: "background" },
        { ...reported, mode: "background" },
      ]),
      ...told(observed, 1),
    ],
  },
  {
    name: "timeout",
    request:
      'Call subagent once, with the task "Call the wait tool, then report what it gave you." and ' +
      "timeout_seconds 1. Then tell me what came of it.",
    options: { tools: [waitTool] },
    scripts: {
      parent: asksOnce("Call the wait tool, then report what it gave you.", { timeout_seconds: 1 }),
      child: byContext([callTool("wait", {})]),
    },
    check: (observed) => outcome(observed, [{ state: "ended", status: "timeout" }]),
  },
  {
    name: "malformed call",
    request:
      'This checks how a tool takes bad arguments. Call subagent with the task "Report the word heron." and ' +
      "one more argument, priority, set to 1: it will be refused. Then call it again without priority, and " +
      "tell me the word.",
    scripts: {
      parent: byContext([
        malformedCall("subagent"),
        callTool("subagent", { task: "Report the word heron." }),
        say("heron"),
      ]),
      child: reports,
    },
    check: (observed) => {
      const refused = refusals(observed, 0).find(({ reason }) => reason === "invalid-arguments");
      const made = observed.runs[0]?.createdSeq ?? 0;
      return [
        ...outcome(observed, [reported]),
        ...(refused === undefined ? ["no call was refused for its arguments"] : []),
        ...(refused !== undefined && made <= refused.seq ? ["the run was not made after the refusal"] : []),
      ];
    },
  },
  {
    name: "depth",
    request:
      'Call subagent once, with the task "Delegate this to a subagent of your own if you can; if you cannot, ' +
      'report the word heron yourself." Then tell me the word.',
    options: { limits: { maxDepth: 1 } },
    scripts: {
      parent: asksOnce("Delegate this."),
      child: byContext([callTool("subagent", { task: "one deeper" }), report]),
    },
    check: (observed) => {
      const reasons = refusals(observed, 1).map(({ reason }) => reason);
      return [
        ...outcome(observed, [{ ...reported, parent: 0 }]),
        // Such a child does not have the tool, so a real model may not try it.
        ...(observed.scripted && reasons.length === 0 ? ["the deeper delegation was not refused"] : []),
        ...reasons.filter((reason) => reason !== "depth-limit").map((reason) => `it was refused as ${reason}`),
      ];
    },
  },
  {
    name: "disabled",
    request: 'Call subagent once, with the task "Report the word heron." If it fails, tell me why and stop.',
    options: { subagentEnabled: false },
    scripts: { parent: asksOnce("Report the word heron."), child: reports },
    check: (observed) => [
      ...outcome(observed, []),
      ...(refusals(observed, 0).some(({ reason }) => reason === "not-enabled")
        ? []
        : ["no call was answered with not-enabled"]),
    ],
  },
  {
    name: "forgetful child",
    request: 'Call subagent once, with the task "Say the word heron." Then tell me the word.',
    child: {
      prompt:
        "You are forgetful: first answer in plain text, with no tool. Only when you are reminded to send your " +
        "results, send them with the tool.",
    },
    scripts: {
      parent: asksOnce("Say the word heron."),
      child: byContext([say("heron"), report]),
    },
    check: (observed) => [...outcome(observed, [{ ...reported, nudged: true }]), ...nudges(observed, 1)],
  },
  {
    name: "silent child",
    request: 'Call subagent once, with the task "Say the word heron." Then tell me the word.',
    child: { prompt: "You answer in plain text. You never use a tool, whatever you are told." },
    scripts: { parent: asksOnce("Say the word heron."), child: byContext([say("heron"), say("heron, as I said")]) },
    check: (observed) => [
      ...outcome(observed, [{ state: "ended", status: "ok", reason: "no-report", report: "salvaged", nudged: true }]),
      ...nudges(observed, 1),
    ],
  },
  {
    name: "user message, awaited",
    request:
      'Call subagent once, with the task "Tell the user that the bridge is open, then report the word heron." ' +
      "Then answer.",
    scripts: {
      parent: byContext([callTool("subagent", { task: "Tell the user." }), say("The bridge is open; heron.")]),
      child: byContext([callTool("send_user_message", { text: "The bridge is open." }), report]),
    },
    check: (observed) => [...outcome(observed, [{ ...reported, mode: "awaited" }]), ...relayed(observed)],
  },
  {
    name: "user message, background",
    request:
      'Call start_background_agent once, with the task "Tell the user that the bridge is open, then report ' +
      'the word heron." Then answer.',
    scripts: {
      // It gets the message and the end in one turn or in two.
      parent: (_request, { replies }) =>
        replies === 0 ? callTool("start_background_agent", { task: "Tell the user." }) : say("The bridge is open."),
      child: byContext([callTool("send_user_message", { text: "The bridge is open." }), report]),
    },
    check: (observed) => [...outcome(observed, [{ ...reported, mode: "background" }]), ...relayed(observed)],
  },
  {
    name: "tag mode",
    request: 'Call subagent once, with the task "Answer with the word heron." Then tell me the word.',
    child: { reporting: "tag" },
    scripts: { parent: asksOnce("Answer with the word heron."), child: () => say("<response>heron</response>") },
    check: (observed) => outcome(observed, [{ state: "ended", status: "ok", report: "tag", nudged: false }]),
  },
  {
    name: "over the cap",
    request:
      'Call subagent once, with the task "Call the book tool, and report all of its text, word for word, from ' +
      'the first line to the last." The result will be cut. Then call read_result with its run_id for the ' +
      "rest, and tell me the last line.",
    options: { tools: [bookTool], limits: { summaryBytes: 400 } },
    scripts: {
      parent: readsTheRest,
      child: byContext([callTool("book", {}), callTool("send_agent_message", { text: BOOK, final: true })]),
    },
    check: (observed) => [
      ...outcome(observed, [reported]),
      ...(called(observed, 0, "read_result") > 0 ? [] : ["the rest of the result was not read"]),
    ],
  },
  {
    name: "unavailable",
    request: 'Call subagent once, with the task "Report the word heron." If it fails, tell me why and stop.',
    child: { model: UNAVAILABLE },
    scripts: { parent: asksOnce("Report the word heron."), child: reports },
    check: (observed) => outcome(observed, [{ state: "ended", status: "error", reason: "provider-error" }]),
  },
];
