/** The definition that a command was asked to work with, or why it cannot. */

import { ErrandError } from "../../errors.ts";
import type { AgentDefinition } from "../../runtime/definitions/catalog.ts";
import type { Host } from "../host.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { type FolderDefinitions, sourceName } from "./folder-definitions.ts";

export function requireAgent(name: string, { read, builtIn, options }: FolderDefinitions, host: Host): AgentDefinition {
  const known = [...(options.agents ?? []), ...builtIn];
  const found = known.find((definition) => definition.name === name);
  if (found !== undefined) return found;
  const file = read.sources.find((source) => source.kind === "agent" && source.found?.name === name);
  const why = file?.warnings.at(-1)?.text.replace(/^it was left out: /, "") ?? "";
  if (file?.state === "untrusted")
    throw new ErrandError("not-trusted", `The agent "${name}" of ${sourceName(file, host)} cannot be used: ${why}`, {
      remedy: "Look into the file; if you trust it: errand trust",
    });
  if (file?.state === "no-model")
    throw new ErrandError("model-unknown", `The agent "${name}" of ${sourceName(file, host)} cannot be used: ${why}`, {
      remedy: "To go without a key: --model offline/rehearsal.",
    });
  const meant = didYouMean(
    name,
    known.map((definition) => definition.name),
  );
  throw new ErrandError("definition-unknown", `There is no agent "${name}"${meant}`, {
    remedy: "errand agents lists them, with what is wrong with those that are left out.",
  });
}
