/** Finds the definition for a command, or throws why it cannot be used. */

import { ErrandError } from "../../errors.ts";
import type { AgentDefinition } from "../../runtime/definitions/catalog.ts";
import type { Host } from "../host.ts";
import { OFFLINE } from "../rehearsal/rehearsal-provider.ts";
import { didYouMean } from "../text/did-you-mean.ts";
import { type FolderDefinitions, sourceName } from "./folder-definitions.ts";

export function requireAgent(name: string, { read, builtIn, agents }: FolderDefinitions, host: Host): AgentDefinition {
  const known = [...agents, ...builtIn];
  const found = known.find((definition) => definition.name === name);
  if (found !== undefined) return found;
  const file = read.sources.find((source) => source.kind === "agent" && source.found?.name === name);
  if (file?.state === "untrusted" || file?.state === "no-model") {
    const message = `The agent "${name}" of ${sourceName(file, host)} cannot be used: ${file.objection ?? ""}`;
    throw file.state === "untrusted"
      ? new ErrandError("not-trusted", message, { remedy: "Look into the file; if you trust it: errand trust" })
      : new ErrandError("model-unknown", message, { remedy: `To go without a key: --model ${OFFLINE}.` });
  }
  const meant = didYouMean(
    name,
    known.map((definition) => definition.name),
  );
  throw new ErrandError("definition-unknown", `There is no agent "${name}"${meant}`, {
    remedy: "errand agents lists them, and says why others are left out.",
  });
}
