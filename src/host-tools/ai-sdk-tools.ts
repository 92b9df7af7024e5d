/**
 * The host tools as the AI SDK takes them. Only the shapes of the package are known here; it is not needed.
 *
 * `execute` gives preliminary outputs while the run works; the last one is the result. Arguments are checked by the
 * call and not by the schema, so that a model that gets them wrong reads what to correct.
 */

import type { HostProgress, HostTool, HostTools } from "./host-tools.ts";
import type { HostToolOutput } from "./output-schemas.ts";

/** The schema of the arguments as a Standard Schema that can tell its JSON Schema. */
export interface AiSdkInputSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "errand";
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: {
      input(): Record<string, unknown>;
      output(): Record<string, unknown>;
    };
  };
}

/** A delegation tool as the AI SDK takes it. */
export interface AiSdkHostTool {
  readonly description: string;
  readonly inputSchema: AiSdkInputSchema;
  execute(
    input: unknown,
    options?: { readonly abortSignal?: AbortSignal | undefined },
  ): AsyncGenerator<HostToolOutput, void, void>;
}

/** Tools by their names. */
export type AiSdkTools = Record<string, AiSdkHostTool>;

export function aiSdkTools({ tools }: HostTools): AiSdkTools {
  return Object.fromEntries(tools.map((tool) => [tool.name, aiSdkTool(tool)]));
}

function aiSdkTool({ description, inputSchema, execute }: HostTool): AiSdkHostTool {
  const schema = (): Record<string, unknown> => structuredClone({ ...inputSchema });
  return {
    description,
    inputSchema: {
      "~standard": {
        version: 1,
        vendor: "errand",
        validate: (value) => ({ value }),
        jsonSchema: { input: schema, output: schema },
      },
    },
    async *execute(input, { abortSignal } = {}) {
      /** The newest line that was not given yet: a slow reader misses lines, so that nothing piles up. */
      const line: { newest: HostProgress | null; done: boolean; wake: () => void } = {
        newest: null,
        done: false,
        wake: () => undefined,
      };
      const result = execute(input, {
        signal: abortSignal,
        onProgress(progress) {
          line.newest = progress;
          line.wake();
        },
      }).finally(() => {
        line.done = true;
        line.wake();
      });
      for (;;) {
        await new Promise<void>((resolve) => {
          line.wake = resolve;
          if (line.newest !== null || line.done) resolve();
        });
        if (line.done) break;
        const { newest } = line;
        line.newest = null;
        if (newest !== null) yield { status: "working", run_id: newest.run_id, activity: newest.text };
      }
      yield await result;
    },
  };
}
