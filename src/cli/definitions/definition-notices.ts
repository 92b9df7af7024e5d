/** Notices about the definitions that a command uses: one line for each kind. */

import { type ReadDefinitions, TRUST_FOR_MODEL } from "../../definitions/read-definitions.ts";
import type { Host } from "../host.ts";
import { countLabel } from "../../view/amounts.ts";
import { terminalLine } from "../text/terminal-text.ts";

/** `agent` is the one that the command starts. */
export function printDefinitionNotices(read: ReadDefinitions, agent: string, { err }: Pick<Host, "err">): void {
  for (const notice of definitionNotices(read, agent)) err(`${terminalLine(notice)}\n`);
}

function definitionNotices({ sources, context }: ReadDefinitions, agent: string): string[] {
  const named = (filter: (source: (typeof sources)[number]) => boolean): string =>
    sources.flatMap((source) => (filter(source) && source.found !== null ? [source.found.name] : [])).join(", ");
  const untrusted = named(({ state }) => state === "untrusted");
  const otherModel = named(
    ({ kind, state, found }) =>
      kind === "agent" &&
      state === "used" &&
      found !== null &&
      found.model === undefined &&
      found.trustFor.includes(TRUST_FOR_MODEL),
  );
  const withoutModel = named(({ state }) => state === "no-model");
  const started = sources.find(
    ({ kind, state, found }) => kind === "agent" && state === "used" && found?.name === agent,
  );
  const warnings = started?.warnings.length ?? 0;
  const notices = [
    untrusted !== "" &&
      `not used before you trust this folder: ${untrusted}; errand agents says why, errand trust agrees`,
    otherModel !== "" && `${otherModel}: the model named there is not used before you trust this folder: errand trust`,
    withoutModel !== "" && `not used, because their model cannot be had: ${withoutModel}; errand agents says why`,
    warnings > 0 && `${countLabel(warnings, "warning")} about ${agent}: errand agents ${agent}`,
    context?.cut === true && "AGENTS.md is long: agents are told its beginning only",
  ];
  return notices.filter((notice) => notice !== false);
}
