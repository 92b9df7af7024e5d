/** Which runner an agent is executed with, and whether its definition fits. */

import type { Runner, RunnerSettings } from "../../contracts/runner.ts";
import type { Json } from "../../core/values/json.ts";
import { plainJson } from "../../plain-json.ts";

/** What of a definition concerns its runner. */
interface Chosen {
  readonly runner?: string;
  readonly settings?: { readonly [name: string]: Json };
  readonly settingsFrom?: RunnerSettings["origin"];
  readonly reporting?: "tool" | "tag";
  readonly tools?: readonly string[];
  readonly delegates?: readonly string[];
  readonly say?: boolean;
}

type Fit =
  | { readonly runner: null }
  | { readonly runner: Runner; readonly settings: RunnerSettings }
  | { readonly problem: string };

/** Null for an agent whose turns are executed in this process. */
export function runnerOf(definition: Chosen, runners: readonly Runner[]): Fit {
  const { runner: wanted, settings } = definition;
  if (wanted === undefined)
    return settings === undefined ? { runner: null } : { problem: "`settings` are for a runner, and it names none" };
  const runner = runners.find(({ name }) => name === wanted);
  if (runner === undefined) {
    const known = runners.map(({ name }) => name).join(", ") || "none";
    return { problem: `there is no runner "${wanted}" (known: ${known})` };
  }
  for (const key of ["tools", "delegates", "say"] as const)
    if (definition[key] !== undefined) return { problem: `\`${key}\` is not for an agent with a runner` };
  if (definition.reporting === "tag") return { problem: "an agent with a runner does not report by tag" };
  const plain = plainJson(settings ?? {});
  const checked = { origin: definition.settingsFrom ?? "code", value: "json" in plain ? plain.json : null } as const;
  const problem = "problem" in plain ? plain.problem : runner.check(checked);
  return problem === null
    ? { runner, settings: checked }
    : { problem: `its settings do not fit the runner "${wanted}": ${problem.replace(/\.$/, "")}` };
}
