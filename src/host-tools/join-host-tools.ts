/**
 * Host tools of several stores as one: new runs start in the first, and a run of any of them can be named. So a handle
 * belongs to the project, whichever process owns the store that holds its run.
 */

import { jsonObjectIs } from "../core/values/json.ts";
import { ErrandError } from "../errors.ts";
import { plainJson } from "../plain-json.ts";
import type { HostCallOptions, HostCallResult, HostTools } from "./host-tools.ts";
import type { HostListOutput } from "./output-schemas.ts";
import { problemOf } from "./run-output.ts";
import { LISTED } from "./tool-specs.ts";

/** Does work while no other process of the project does such work. */
export type Alone = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** `elsewhere` gives the host tools of the other stores as they are now. */
export function joinHostTools(own: HostTools, elsewhere: () => Promise<readonly HostTools[]>, alone: Alone): HostTools {
  /** Between the look at the other stores and the start, no other process may start work under the key. */
  function startKeyed(key: string, input: unknown, options: HostCallOptions): Promise<HostCallResult> {
    return alone(async () => {
      for (const other of await elsewhere())
        if (await other.known(key)) return other.call("subagent_start", input, options);
      return own.call("subagent_start", input, options);
    });
  }

  async function call(name: string, input: unknown, options: HostCallOptions = {}): Promise<HostCallResult> {
    try {
      return await callAnywhere(name, input, options);
    } catch (error) {
      const output = { status: "refused", ...problemOf(error) } as const;
      return { failed: true, output, text: JSON.stringify(output) };
    }
  }

  async function callAnywhere(name: string, input: unknown, options: HostCallOptions): Promise<HostCallResult> {
    if (name === "subagent_list") return listCall(input, options);
    const key = name === "subagent_start" ? (fieldOf(input, "key") ?? options.key) : undefined;
    if (key !== undefined && !(await own.known(key))) return startKeyed(key, input, options);
    const result = await own.call(name, input, options);
    if (!isUnknown(result)) return result;
    for (const other of await elsewhere()) {
      const found = await other.call(name, input, options);
      if (!isUnknown(found)) return found;
    }
    return result;
  }

  async function listCall(input: unknown, options: HostCallOptions): Promise<HostCallResult> {
    const result = await own.call("subagent_list", input, options);
    if (result.failed) return result;
    const others: HostCallResult[] = [];
    for (const other of await elsewhere()) {
      const listed = await other.call("subagent_list", input, options);
      // A list that lacks runs would look like all of them.
      if (listed.failed) return listed;
      others.push(listed);
    }
    const output = merged([result, ...others].map((one) => one.output as HostListOutput));
    return { failed: false, output, text: JSON.stringify(output) };
  }

  /** Asks the first store that knows the run. */
  async function found<Found>(ask: (tools: HostTools) => Promise<Found>): Promise<Found> {
    try {
      return await ask(own);
    } catch (error) {
      if (!unknownIs(error)) throw error;
      for (const other of await elsewhere()) {
        try {
          return await ask(other);
        } catch (thrown) {
          if (!unknownIs(thrown)) throw thrown;
        }
      }
      throw error;
    }
  }

  return {
    agents: own.agents,
    tools: own.tools.map((tool) => ({
      ...tool,
      execute: async (input, options) => (await call(tool.name, input, options)).output,
    })),
    call,
    async list(state) {
      return merged(await Promise.all([own, ...(await elsewhere())].map((tools) => tools.list(state))));
    },
    async known(key) {
      if (await own.known(key)) return true;
      for (const other of await elsewhere()) if (await other.known(key)) return true;
      return false;
    },
    look: (run) => found((tools) => tools.look(run)),
    result: (run, offset) => found((tools) => tools.result(run, offset)),
    transcript: (run, offset) => found((tools) => tools.transcript(run, offset)),
  };
}

function merged(lists: readonly HostListOutput[]): HostListOutput {
  const all = lists
    .flatMap(({ runs = [] }) => runs)
    .toSorted((one, other) => (one.created_at < other.created_at ? 1 : -1));
  const more = all.length > LISTED || lists.some((list) => list.more === true);
  return { runs: all.slice(0, LISTED), ...(more ? { more } : {}) };
}

function isUnknown({ output }: HostCallResult): boolean {
  return "reason" in output && output.reason === "run-unknown";
}

function unknownIs(error: unknown): boolean {
  return error instanceof ErrandError && error.code === "run-unknown";
}

function fieldOf(input: unknown, name: string): string | undefined {
  const plain = plainJson(input);
  const value = "json" in plain && jsonObjectIs(plain.json) ? plain.json[name] : undefined;
  return typeof value === "string" ? value : undefined;
}
