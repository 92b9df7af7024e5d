/** Going on with a tree that came from the store: what its last process had under way is lost, and its definitions may have changed. */

import type { Input } from "../../core/event.ts";
import type { TreeState } from "../../core/state.ts";
import type { Catalog } from "../definitions/catalog.ts";
import type { Renewal } from "../definitions/renewal.ts";
import type { Beginnings } from "../effects/effect-starter.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { EffectRunner } from "../effects/effect-runner.ts";
import type { LoadedTree } from "./tree-cache.ts";

interface ResumeParts {
  readonly renewal: (state: TreeState) => Renewal | null;
  readonly effects: EffectRunner;
  readonly beginnings: Beginnings;
  readonly loop: CommitLoop;
  readonly onFailure: (error: unknown) => void;
}

export function resumeTree(loaded: LoadedTree, parts: ResumeParts): void {
  const { effects, loop } = parts;
  const { id: tree } = loaded;
  const { state } = loaded.tree;
  const submit = (input: Input, blobs: Catalog["blobs"] = []): void =>
    loop.take({ tree, input, texts: [], blobs }, parts.onFailure);

  const renewal = parts.renewal(state);
  if (renewal !== null) {
    const { blobs, ...changed } = renewal;
    submit({ type: "catalog-changed", ...changed }, blobs);
  }
  // A doubtful commit that became durable may have ended what is still executed here.
  effects.abortClosed(loaded);
  parts.beginnings.beginHeld(loaded);
  const lost = [...state.effects].filter(
    ([key, effect]) => effect.retryAt === null && !effects.under(tree, key) && !loop.delivers(tree, key),
  );
  if (lost.length > 0) submit({ type: "effects-lost", effects: lost.map(([key]) => key) });
  if (state.queued > 0) submit({ type: "slots-offered" });
}
