/**
 * What is asked of the delegation tools. Each case is one request to an agent, and a check of what the journal and the run records say
 * came of it; the wording of no model is judged. The scripts say what a model that behaves would do: they stand in for one by default.
 */

import type { AgentDefinition, ErrandOptions, Fact, StoredRun, Tool, TreeEvent } from "../src/index.ts";
import { byContext, callTool, callTools, malformedCall, say, type Script } from "../src/testing/index.ts";

export interface Observed {
  readonly events: readonly TreeEvent[];
  readonly runs: readonly StoredRun[];
  /** True for the scripted model, which does exactly what its script says. */
  readonly scripted: boolean;
}

export interface EvalCase {
  readonly name: string;
  /** What the agent is asked. */
  readonly request: string;
  readonly options?: Pick<ErrandOptions, "limits" | "subagentEnabled" | "tools">;
  readonly child?: Partial<AgentDefinition>;
  readonly scripts: { readonly parent: Script; readonly child: Script };
  /** What did not come out as it should; nothing if the case passed. */
  check(observed: Observed): readonly string[];
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

function factsOf<Type extends Fact["type"]>(observed: Observed, type: Type): FactOf<Type>[] {
  return observed.events.flatMap((event) => event.facts.filter((fact): fact is FactOf<Type> => fact.type === type));
}

/** The answers that the kernel gave an agent's calls, as text. */
function answersTo(
  observed: Observed,
  agent: number,
): { readonly seq: number; readonly text: string; readonly failed: boolean }[] {
  return observed.events.flatMap(({ seq, facts, texts }) =>
    facts.flatMap((fact) => {
      if (fact.type !== "tool-answered" || fact.agent !== agent || fact.text === undefined) return [];
      const text = texts[fact.text];
      return [{ seq, text: typeof text === "string" ? text : "", failed: fact.failed === true }];
    }),
  );
}

/** Reasons of delegations that were refused as a payload. */
function refusals(observed: Observed, agent: number): string[] {
  return answersTo(observed, agent).flatMap(({ text }) => {
    const reason = /^\{"success":false,.*"reason":"([a-z-]+)".*"run_id":null/.exec(text)?.[1];
    return reason === undefined ? [] : [reason];
  });
}

/** One line for each expectation that does not hold. */
function differences(what: string, found: object, expected: Readonly<Record<string, unknown>>): string[] {
  const values = new Map<string, unknown>(Object.entries(found));
  return Object.entries(expected).flatMap(([name, value]) =>
    values.get(name) === value
      ? []
      : [`${what}: ${name} is ${JSON.stringify(values.get(name))}, not ${JSON.stringify(value)}`],
  );
}

/** Exactly these runs, and a last turn of the agent that ended well. */
function outcome(observed: Observed, expected: readonly Readonly<Record<string, unknown>>[]): string[] {
  const { runs } = observed;
  const ended = factsOf(observed, "turn-ended").findLast((fact) => fact.agent === 0);
  return [
    ...(runs.length === expected.length ? [] : [`there are ${runs.length} runs, not ${expected.length}`]),
    ...expected.flatMap((fields, index) => {
      const run = runs[index];
      return run === undefined ? [] : differences(`run ${index + 1}`, run, { ...fields, delivery: "placed" });
    }),
    ...(ended?.outcome === "done" ? [] : [`the agent's turn ended as ${ended?.outcome ?? "nothing"}, not done`]),
  ];
}

const reported = { state: "ended", status: "ok", reason: null, report: "tool" };

function asksOnce(task: string, more: Record<string, number> = {}): Script {
  return byContext([callTool("subagent", { task, ...more }), say("Done.")]);
}

const reports = byContext([callTool("send_agent_message", { text: "heron" }), say("Reported.")]);

/** Answers nothing until it is aborted. */
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
      'Call start_background_agent twice in one reply, with the tasks "Report the word heron." and "Report the word wren." Then answer, and tell me the words when you hear of them.',
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
      'Call subagent once, with the task "Call the wait tool, then report what it gave you." and timeout_seconds 1. Then tell me what came of it.',
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
      'This checks how a tool takes bad arguments. Call subagent with the task "Report the word heron." and one more argument, priority, set to 1: it will be refused. Then call it again without priority, and tell me the word.',
    scripts: {
      parent: byContext([
        malformedCall("subagent"),
        callTool("subagent", { task: "Report the word heron." }),
        say("heron"),
      ]),
      child: reports,
    },
    check: (observed) => {
      const refused = answersTo(observed, 0).find(({ text }) => text.includes('"reason":"invalid-arguments"'));
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
      'Call subagent once, with the task "Delegate this to a subagent of your own if you can; if you cannot, report the word heron yourself." Then tell me the word.',
    options: { limits: { maxDepth: 1 } },
    scripts: {
      parent: asksOnce("Delegate this."),
      child: byContext([
        callTool("subagent", { task: "one deeper" }),
        callTool("send_agent_message", { text: "heron" }),
        say("Reported."),
      ]),
    },
    check: (observed) => {
      const reasons = refusals(observed, 1);
      return [
        ...outcome(observed, [{ ...reported, parent: 0 }]),
        // The tool is not shown to such a child: a real model may never try it.
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
      ...(refusals(observed, 0).includes("not-enabled") ? [] : ["no call was answered with not-enabled"]),
    ],
  },
  {
    name: "forgetful child",
    request: 'Call subagent once, with the task "Say the word heron." Then tell me the word.',
    child: {
      prompt:
        "You are forgetful: first answer in plain text, with no tool. Only when you are reminded to send your results, send them with the tool.",
    },
    scripts: {
      parent: asksOnce("Say the word heron."),
      child: byContext([say("heron"), callTool("send_agent_message", { text: "heron" }), say("Reported.")]),
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
];

function nudges(observed: Observed, expected: number): string[] {
  const given = factsOf(observed, "nudge-given").filter((fact) => fact.about === "report").length;
  return given === expected ? [] : [`${given} nudges were given, not ${expected}`];
}

function told(observed: Observed, expected: number): string[] {
  const placed = factsOf(observed, "turn-started").filter((fact) => fact.announcement !== undefined).length;
  return placed === expected ? [] : [`${placed} announcements were placed, not ${expected}`];
}
