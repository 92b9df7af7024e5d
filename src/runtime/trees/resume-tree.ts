/** Going on with a tree that came from the store: what its last process had under way is lost, and its definitions may have changed. */

import type { Input } from "../../core/event.ts";
import { type Catalog, catalogOfTree } from "../definitions/catalog.ts";
import type { Beginnings } from "../steps/beginnings.ts";
import type { CommitLoop } from "../steps/commit-loop.ts";
import type { EffectRunner } from "../steps/effects.ts";
import type { LoadedTree } from "./tree-cache.ts";

interface ResumeParts {
  readonly catalog: Catalog;
  /** False: the tree goes on with the definitions it was recorded with. */
  readonly renewDefinitions: boolean;
  readonly effects: EffectRunner;
  readonly beginnings: Beginnings;
  readonly loop: CommitLoop;
  readonly onFailure: (error: unknown) => void;
}

export function resumeTree(loaded: LoadedTree, parts: ResumeParts): void {
  const { effects, loop } = parts;
  const { id: tree } = loaded;
  const { state } = loaded.tree;
  const submit = (input: Input, blobs: ReturnType<typeof catalogOfTree>["blobs"] = []): void =>
    void loop.submit({ tree, input, texts: [], blobs }).catch(parts.onFailure);

  const name = state.agents.get(0)?.definition.name ?? "";
  const { facts, blobs } = catalogOfTree(parts.catalog, name);
  const root = facts.find((known) => known.name === name);
  const same = JSON.stringify([...state.catalog.values()]) === JSON.stringify(facts);
  if (!same && root !== undefined && parts.renewDefinitions)
    submit({ type: "catalog-changed", catalog: facts, root }, blobs);
  // A doubtful commit that became durable may have ended what is still executed here.
  effects.abortClosed(loaded);
  parts.beginnings.beginHeld(loaded);
  const lost = [...state.effects].filter(
    ([key, effect]) => effect.retryAt === null && !effects.under(tree, key) && !loop.brings(tree, key),
  );
  if (lost.length > 0) submit({ type: "effects-lost", effects: lost.map(([key]) => key) });
  if (state.queued > 0) submit({ type: "slots-offered" });
}
