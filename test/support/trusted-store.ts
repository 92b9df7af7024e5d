/**
 * Tests change stores behind Errand's back, and copy them. Then they declare the store trusted, as a user does with
 * `errand trust --store`.
 */

import { trustParts } from "../../src/runtime/create-runtime.ts";
import { canonicalPath } from "../../src/stores/sqlite/open-database.ts";
import { digestOf } from "../../src/stores/trust/foreign-store.ts";
import { registerOf } from "../../src/stores/trust/trust-status.ts";
import { trustStore } from "../../src/stores/trust/trust-store.ts";

/** Returns the new id of the store. */
export function trustChangedStore(path: string): Promise<string> {
  const real = canonicalPath(path);
  return trustStore({ path: real, digest: digestOf(real) }, trustParts());
}

/** Registers the copy of a store, made when its process was killed, in place of the store. */
export function trustCopy(store: string, copy: string): void {
  const register = registerOf(trustParts());
  const entry = register.find(canonicalPath(store));
  if (entry === null) throw new Error(`${store} is not registered`);
  register.put({ ...entry, path: canonicalPath(copy), left: null });
}
