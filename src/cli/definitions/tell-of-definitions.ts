/** What a person who starts a command should know about the definitions it works with: a line for each kind of thing. */

import type { ReadDefinitions } from "../../definitions/read-definitions.ts";
import type { Host } from "../host.ts";
import { countLabel } from "../text/amounts.ts";
import { terminalLine } from "../text/terminal-text.ts";

/** `agent` is the one that the command starts. */
export function tellOfDefinitions(read: ReadDefinitions, agent: string, { err }: Pick<Host, "err">): void {
  for (const notice of notices(read, agent)) err(`${terminalLine(notice)}\n`);
}

function notices({ sources, context }: ReadDefinitions, agent: string): string[] {
  const named = (state: string): string[] =>
    sources.flatMap((source) => (source.state === state && source.found !== null ? [source.found.name] : []));
  const untrusted = named("untrusted");
  const modelless = named("no-model");
  const models = sources.flatMap(({ state, found, warnings }) =>
    state === "used" && found !== null && warnings.some(({ text }) => text.startsWith("its model "))
      ? [found.name]
      : [],
  );
  const warnings = sources.find(
    (source) => source.kind === "agent" && source.state === "used" && source.found?.name === agent,
  )?.warnings.length;
  return [
    ...(untrusted.length === 0
      ? []
      : [
          `not used before you trust this folder: ${untrusted.join(", ")}; errand agents says why, errand trust agrees`,
        ]),
    ...(models.length === 0
      ? []
      : [`${models.join(", ")}: the model named there is not used before you trust this folder: errand trust`]),
    ...(modelless.length === 0
      ? []
      : [`not used, because their model cannot be had: ${modelless.join(", ")}; errand agents says why`]),
    ...(warnings === undefined || warnings === 0
      ? []
      : [`${countLabel(warnings, "warning")} about ${agent}: errand agents ${agent}`]),
    ...(context?.cut === true ? ["AGENTS.md is long: agents are told its beginning only"] : []),
  ];
}
