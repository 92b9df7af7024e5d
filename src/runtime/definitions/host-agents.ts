/** The definitions that the model of another loop may name. */

import type { HostAgent } from "../../host-tools/host-runtime.ts";
import { type Catalog, requireUsable } from "./catalog.ts";

/** These definitions; without names, all that the program gave or that have a description, but for skills. */
export function hostAgents(catalog: Catalog, names: readonly string[] | undefined): readonly HostAgent[] {
  for (const name of names ?? []) requireUsable(catalog, name, "host");
  const { facts, texts, given } = catalog;
  return facts.flatMap(({ name, hash, skill }): HostAgent[] => {
    const description = texts.get(hash)?.description ?? "";
    const listed = names === undefined ? given.includes(name) || description !== "" : names.includes(name);
    return skill === undefined && listed ? [{ name, description }] : [];
  });
}
