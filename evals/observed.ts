/** What is known of a case at its end, and functions that check it. */

import type { Fact, StoredRun, TreeEvent } from "../src/index.ts";

export interface Observed {
  readonly events: readonly TreeEvent[];
  readonly runs: readonly StoredRun[];
  /** True for the scripted model, which follows its script exactly. */
  readonly scripted: boolean;
}

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

function factsOf<Type extends Fact["type"]>(observed: Observed, type: Type): FactOf<Type>[] {
  return observed.events.flatMap((event) => event.facts.filter((fact): fact is FactOf<Type> => fact.type === type));
}

/** The kernel's answers to an agent's calls, as text. */
function answersTo(observed: Observed, agent: number): { readonly seq: number; readonly text: string }[] {
  return observed.events.flatMap(({ seq, facts, texts }) =>
    facts.flatMap((fact) => {
      if (fact.type !== "tool-answered" || fact.agent !== agent || fact.text === undefined) return [];
      const text = texts[fact.text];
      return [{ seq, text: typeof text === "string" ? text : "" }];
    }),
  );
}

/** Refused delegations: where, and why. */
export function refusals(observed: Observed, agent: number): { readonly seq: number; readonly reason: string }[] {
  return answersTo(observed, agent).flatMap(({ seq, text }) => {
    const reason = /^\{"success":false,.*"reason":"([a-z-]+)".*"run_id":null/.exec(text)?.[1];
    return reason === undefined ? [] : [{ seq, reason }];
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

/** The case has exactly these runs, and the agent's last turn ended well. */
export function outcome(observed: Observed, expected: readonly Readonly<Record<string, unknown>>[]): string[] {
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

export function nudges(observed: Observed, expected: number): string[] {
  const given = factsOf(observed, "nudge-given").filter((fact) => fact.about === "report").length;
  return given === expected ? [] : [`${given} nudges were given, not ${expected}`];
}

export function told(observed: Observed, expected: number): string[] {
  const placed = factsOf(observed, "turn-started").filter((fact) => fact.announcement !== undefined).length;
  return placed === expected ? [] : [`${placed} announcements were placed, not ${expected}`];
}

/** The user got a message after a child asked for it. */
export function relayed(observed: Observed): string[] {
  const asked = observed.events.find(({ facts }) =>
    facts.some((fact) => fact.type === "message-sent" && fact.kind === "user-facing"),
  );
  if (asked === undefined) return ["no child sent a message for the user"];
  const later = observed.events.filter(({ seq }) => seq > asked.seq);
  const sent = later.some(({ facts }) =>
    facts.some((fact) => fact.type === "channel-sent" && fact.relay === undefined),
  );
  return sent ? [] : ["the agent did not present the message for the user"];
}

/** How often the agent called this tool. Counts only tools that run outside the kernel. */
export function called(observed: Observed, agent: number, name: string): number {
  return factsOf(observed, "tool-called").filter((fact) => fact.agent === agent && fact.name === name).length;
}
