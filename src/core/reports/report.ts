/** Reports: what a child hands to its parent, as text, artifacts and data. */

import { type Json, jsonObjectIs } from "../values/json.ts";
import { dataGiven } from "../delegation/typed-data.ts";

/** A part of a report: a note, a path, a diff or JSON text. */
export interface Artifact {
  readonly kind: string;
  readonly value: string;
}

export interface Report {
  readonly text: string;
  readonly artifacts: readonly Artifact[];
  readonly data: Json | undefined;
}

/** A report as the child sent it. Data without a schema become an artifact. */
export function reportFromArguments(args: { readonly [name: string]: Json }, typed: boolean): Report {
  const { text, artifacts } = args;
  const data = dataGiven(args);
  const listed = (Array.isArray(artifacts) ? (artifacts as readonly Json[]) : []).map(artifactRead);
  const dataArtifact = data === undefined || typed ? [] : [{ kind: "json", value: JSON.stringify(data) }];
  return {
    text: typeof text === "string" ? text : "",
    artifacts: [...listed, ...dataArtifact],
    data: typed ? data : undefined,
  };
}

/** Models, and journals of earlier revisions, hold values of any type. */
export function artifactRead(json: Json): Artifact {
  const { kind, value } = jsonObjectIs(json) ? json : {};
  return {
    kind: typeof kind === "string" ? kind : "json",
    value: typeof value === "string" ? value : JSON.stringify(value ?? null),
  };
}

/** All of it as one text: what `read_result` reads, and what an announcement shows when it fits. */
export function reportWhole({ text, artifacts, data }: Report): string {
  const parts = text === "" ? [] : [text];
  if (artifacts.length > 0) parts.push(artifactLines(artifacts));
  if (data !== undefined) parts.push(`Data: ${JSON.stringify(data)}`);
  return parts.join("\n\n");
}

function artifactLines(artifacts: readonly Artifact[]): string {
  const lines = artifacts.map(({ kind, value }) =>
    value.includes("\n") ? `- ${kind}:\n${value}` : `- ${kind}: ${value}`,
  );
  return ["Artifacts:", ...lines].join("\n");
}
