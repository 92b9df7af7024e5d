/** What outside children of the trees of random-tree.test-support.ts say. */

import type { Input } from "./event.ts";
import type { StepKey } from "./values/ids.ts";
import type { Json } from "./values/json.ts";

/** Anything that the session of an outside child may say. */
export function outsideInput(effect: StepKey, attempt: number, next: () => number): readonly [Input, readonly Json[]] {
  const used = next() % 3 === 0 ? undefined : { input: next() % 3_000, output: next() % 50, ...costOf(next) };
  const session = { effect, attempt, used };
  const problem = next() % 5 === 0 ? "it does not fit" : undefined;
  const artifacts = next() % 6 === 0 ? [{ kind: "json", value: "{" }] : [];
  const report = { text: "what I found", artifacts, ...(next() % 3 === 0 ? { data: { found: 1 } } : {}) };
  switch (next() % 8) {
    case 0:
    case 1: {
      const iterations = next() % 4 === 0 ? next() % 12 : undefined;
      const resumable = next() % 3 === 0 ? true : undefined;
      const text = next() % 3 === 0 ? "" : "I look around";
      return [{ type: "runner-progressed", ...session, iterations, resumable }, [text, ...(resumable ? ["t1"] : [])]];
    }
    case 2:
    case 3: {
      const choices = next() % 2 === 0 ? { choices: ["yes", "no"] } : {};
      return [{ type: "runner-asked", ...session, ask: `ask-${next() % 40}` }, [{ text: "May I?", ...choices }]];
    }
    case 4:
    case 5:
      return [{ type: "runner-reported", ...session, size: 12, problem }, [report]];
    default: {
      const status = (["ok", "ok", "error", "failed", "lost"] as const)[next() % 5] ?? "ok";
      const code = status === "failed" ? "runner-died" : undefined;
      const reported = (status === "ok" || status === "error") && next() % 2 === 0 ? true : undefined;
      const texts = [reported === undefined ? null : report, "it broke"];
      return [{ type: "runner-ended", ...session, status, code, reported, size: 12, problem }, texts];
    }
  }
}

function costOf(next: () => number): { readonly cost?: number } {
  return next() % 2 === 0 ? {} : { cost: next() % 500 };
}
