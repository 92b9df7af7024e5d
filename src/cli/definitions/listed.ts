/** Agents and skills as `errand agents` lists them: one form for files and for what is built in, in use or not. */

import { DEFAULT_AGENT, type FolderDefinitions, sourceName } from "./folder-definitions.ts";
import type { Warning } from "../../definitions/fields.ts";
import { builtInDefinitions } from "../../definitions/built-in.ts";
import type { DefinitionSource } from "../../definitions/read-definitions.ts";
import type { JsonLine } from "../display/json-types.ts";
import type { Host } from "../host.ts";

export interface Listed {
  readonly type: "agent" | "skill" | "context" | "file";
  /** Null for a file that came to nothing, and for AGENTS.md. */
  readonly name: string | null;
  readonly description: string;
  /** The file's path, or `built-in`. */
  readonly source: string;
  /** The same, as it is named to people. */
  readonly shown: string;
  readonly place: "project" | "home" | "built-in";
  readonly program: string;
  readonly state: DefinitionSource["state"];
  readonly shadowedBy: string | null;
  /** `provider/model`; null for the default. */
  readonly model: string | null;
  /** Null for all. */
  readonly tools: readonly string[] | null;
  readonly skills: readonly string[];
  readonly reporting: "tool" | "tag" | null;
  readonly maxIterations: number | null;
  readonly timeoutSeconds: number | null;
  readonly say: boolean;
  /** True for a skill that runs as a child of its own. */
  readonly isolated: boolean;
  readonly needsTrust: boolean;
  readonly trustFor: readonly string[];
  readonly warnings: readonly Warning[];
  readonly prompt: string;
}

const BUILT_IN = "built-in";
const EMPTY = {
  name: null,
  description: "",
  shadowedBy: null,
  model: null,
  tools: null,
  skills: [],
  reporting: null,
  maxIterations: null,
  timeoutSeconds: null,
  say: false,
  isolated: false,
  needsTrust: false,
  trustFor: [],
  warnings: [],
  prompt: "",
} as const;

/** For programs; with its prompt where one was asked for. */
export function listedRecord({ type, shown: _shown, prompt, ...rest }: Listed, whole: boolean): JsonLine {
  return {
    type,
    ...rest,
    ...(type === "file" ? {} : { bytes: Buffer.byteLength(prompt) }),
    ...(whole ? { prompt } : {}),
  };
}

export function listed({ read, tools }: FolderDefinitions, host: Host): readonly Listed[] {
  return [...read.sources.map((source) => listedFile(source, read.context?.text ?? "", host)), ...builtIn()];

  function builtIn(): Listed[] {
    return builtInDefinitions(tools).map((definition) => {
      const file = read.sources.find(({ state, found }) => state === "used" && found?.name === definition.name);
      const place = { source: BUILT_IN, shown: BUILT_IN, place: BUILT_IN, program: "errand" } as const;
      const shadow = file === undefined ? null : `it was left out: ${sourceName(file, host)} goes before it`;
      return {
        ...EMPTY,
        type: "agent",
        ...place,
        ...definition,
        description: definition.description || (definition.name === DEFAULT_AGENT ? ORCHESTRATOR : ""),
        tools: definition.tools ?? null,
        state: file === undefined ? "used" : "shadowed",
        shadowedBy: file?.path ?? null,
        warnings: shadow === null ? [] : [{ text: shadow, line: null }],
      };
    });
  }
}

/** Agents do not see the orchestrator, because it is not for children. */
const ORCHESTRATOR = "Speaks with you and delegates: what errand run starts.";

function listedFile(source: DefinitionSource, context: string, host: Host): Listed {
  const { path, kind, program, place, state, shadowedBy, warnings } = source;
  const file = { source: path, shown: sourceName(source, host), place, program, state, shadowedBy, warnings };
  if (kind === "context") return { ...EMPTY, ...file, type: "context", prompt: context };
  if (source.found === null) return { ...EMPTY, ...file, type: "file" };
  return { ...EMPTY, ...file, ...source.found, type: kind };
}
