/**
 * The settings of a definition whose children are programs. They name what is started on this machine, so settings that
 * come neither from code nor from a file that the user trusts are refused before anything else is looked at.
 */

import type { RunnerSettings } from "../contracts/runner.ts";
import { type ArgumentSchema, argumentsProblem } from "../core/delegation/arguments.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";

export interface SubprocessSettings {
  /** The program, by name or path, and its arguments. There is no shell. */
  readonly program: string;
  readonly parameters: readonly string[];
  /** Names of the variables that are passed on. */
  readonly env: readonly string[];
  /** Where the child works: the folder of its conversation, or an empty one that is removed with it. */
  readonly cwd: "workspace" | "temporary";
  readonly resumable: boolean;
  /** How long the child may be silent; null: as long as its deadline allows. */
  readonly silenceSeconds: number | null;
}

const CWD = ["workspace", "temporary"] as const;
const argument = { type: "string", maxLength: 65_536 } as const;

const SCHEMA = {
  type: "object",
  properties: {
    command: { type: "array", maxItems: 1_000, items: argument },
    args: { type: "array", maxItems: 1_000, items: argument },
    env: { type: "array", maxItems: 200, items: { type: "string", minLength: 1, maxLength: 256 } },
    cwd: { type: "string", enum: CWD },
    resumable: { type: "boolean" },
    silence_seconds: { type: "integer", minimum: 1 },
  },
  required: ["command"],
  additionalProperties: false,
} as const satisfies ArgumentSchema;

const EXAMPLE = '{"command": ["python3", "/path/to/child.py"]}';

/** The settings, or what is wrong with them in a sentence. */
export function parseSubprocessSettings(given: RunnerSettings): SubprocessSettings | string {
  if (!trustedIs(given)) {
    return "its settings come neither from code nor from a file that you trust: nothing is started; run `errand trust`";
  }
  const problem = argumentsProblem(SCHEMA, given.value);
  if (problem !== null) return `${problem}, for example ${EXAMPLE}`;
  if (!jsonObjectIs(given.value)) return `the settings must be an object, for example ${EXAMPLE}`;
  const { command, args, env, cwd, resumable, silence_seconds: silence } = given.value;
  const [program = "", ...parameters] = [...textsOf(command), ...textsOf(args)];
  const names = textsOf(env);
  if (program === "") return `\`command\` must begin with a program, for example ${EXAMPLE}`;
  if (/\s/.test(program) && !program.includes("/")) {
    return `there is no shell: give each argument as an item of its own, for example ${EXAMPLE}`;
  }
  if ([program, ...parameters].some((text) => text.includes("\0"))) return "`command` must not contain NUL characters";
  const wrong = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined) {
    return `\`env\` lists names of variables, not values: ${JSON.stringify(wrong.split("=")[0])} is not a name`;
  }
  return {
    program,
    parameters,
    env: names,
    cwd: CWD.find((known) => known === cwd) ?? "workspace",
    resumable: resumable === true,
    silenceSeconds: typeof silence === "number" ? silence : null,
  };
}

/** Settings are data when they come from a journal, so their type alone proves nothing. */
function trustedIs({ origin }: { readonly origin: unknown }): boolean {
  return origin === "code" || origin === "trusted-file";
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((item) => typeof item === "string") : [];
}
