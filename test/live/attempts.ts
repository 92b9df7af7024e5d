/** The three tests of a real model. Each is checked by the journal. */

import type { Errand } from "../../src/index.ts";
import { createMemoryChannel } from "../../src/testing/index.ts";

export interface Attempt {
  readonly name: string;
  /** The expectations that do not hold. */
  try(errand: Errand): Promise<readonly string[]>;
}

const PATIENCE_MS = 180_000;

/** Runs one delegation until the user has the answer. */
async function runErrand(errand: Errand, task: string) {
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  const run = await agent.spawn({ task, timeoutSeconds: PATIENCE_MS / 1_000 });
  const { status, summary } = await run.outcome();
  for await (const { facts } of errand.journal(agent.id))
    if (facts.some((fact) => fact.type === "turn-ended" && fact.agent === 0)) break;
  const { report, nudged } = await errand.getRun(run.id);
  return { status, summary, report, nudged, told: channel.messages.map(({ text }) => text).join("\n") };
}

function problems(checks: Readonly<Record<string, boolean>>, seen: object): readonly string[] {
  const missed = Object.entries(checks).flatMap(([name, held]) => (held ? [] : [name]));
  return missed.length === 0 ? [] : [...missed.map((name) => `not so: ${name}`), `seen: ${JSON.stringify(seen)}`];
}

export const ATTEMPTS: readonly Attempt[] = [
  {
    name: "reporting",
    async try(errand) {
      const seen = await runErrand(errand, "Report this to your parent: the password of the day is pomegranate.");
      const { status, report, nudged, summary } = seen;
      return problems(
        {
          "the run ended well": status === "ok",
          "the child reported with the tool, by itself": report === "tool" && !nudged,
          "the report holds what was asked for": /pomegranate/i.test(summary),
        },
        seen,
      );
    },
  },
  {
    name: "nudge",
    async try(errand) {
      const seen = await runErrand(
        errand,
        "This tests a reminder. In your first reply write only the words 'three herons' as plain text and " +
          "call no tool. You will then be reminded to deliver your result: do that with the tool, with the same " +
          "words.",
      );
      const { status, report, nudged, summary } = seen;
      return problems(
        {
          "the run ended well": status === "ok",
          "the child was reminded": nudged,
          "and then reported with the tool": report === "tool",
          "the report holds what was asked for": /herons/i.test(summary),
        },
        seen,
      );
    },
  },
  {
    name: "user message",
    async try(errand) {
      const seen = await runErrand(
        errand,
        "First use send_user_message to tell the user that the kettle is boiling. Then report the word 'done' " +
          "to your parent.",
      );
      const { status, report, told } = seen;
      return problems(
        {
          "the run ended well": status === "ok",
          "the child reported with the tool": report === "tool",
          "the user was told of the kettle": /kettle/i.test(told),
        },
        seen,
      );
    },
  },
];
