/** How trees are created: empty, with a first message, or as a fork of another. */

import type { Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { AgentKind } from "../../core/input.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import { asTreeId, SALT_DIGITS, SEED_DIGITS, type TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { Settings } from "../../core/values/limits.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import type { TreeSource } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { DelegationHook } from "../effects/before-delegation.ts";
import type { EffectStarter } from "../effects/effect-starter.ts";
import type { Clock } from "../clock.ts";
import { type Catalog, catalogOfTree, requireModel, requireUsable, toolsNarrowed } from "../definitions/catalog.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import { forkTree } from "./fork-tree.ts";
import type { PostInput } from "../messages/mail.ts";
import type { Posts } from "../messages/posts.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { TreeCache } from "./tree-cache.ts";
import { treeUnknown } from "./tree-errors.ts";

/** A tree that is to be opened. */
export interface Opening {
  readonly definition: string;
  readonly kind: AgentKind;
  readonly tree: TreeId;
  /** The caller's data for its tools. */
  readonly data: Json;
}

export interface TreeOpener {
  open(opening: Opening): Promise<void>;
  /**
   * Opens the tree with its first message. One commit holds both, so neither exists without the other. Resolves with
   * the reason why the message changed nothing, or null.
   */
  start(opening: Opening, first: { readonly input: PostInput; readonly text: Json }): Promise<string | null>;
  /** Creates a tree from the first rows of another, and continues it. */
  fork(origin: TreeId, at: number, root: DefinitionFacts | undefined): Promise<TreeId>;
}

interface TreeOpenerParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly library: DefinitionLibrary;
  readonly settings: Settings;
  readonly rights: ProcessRights;
  readonly source: TreeSource;
  readonly loop: CommitLoop;
  readonly posts: Posts;
  readonly delegations: DelegationHook;
  readonly trees: TreeCache;
  readonly starter: EffectStarter;
  readonly newId: () => string;
  readonly onNotice: (notice: ErrandError) => void;
}

export function createTreeOpener(parts: TreeOpenerParts): TreeOpener {
  const { store, world, catalog, loop, settings, rights } = parts;
  const warned = new Set<string>();

  async function submissionOf({ definition, kind, tree, data }: Opening): Promise<Submission> {
    requireUsable(catalog, definition, kind);
    const narrowed = kind === "host" || warned.has(definition) ? null : toolsNarrowed(catalog, definition);
    if (narrowed !== null) parts.onNotice(narrowed);
    warned.add(definition);
    const { facts, blobs } = catalogOfTree(catalog, definition);
    requirePrice(
      facts.find((known) => known.name === definition),
      settings,
    );
    const format = Math.min(await store.format(), JOURNAL_FORMAT);
    return {
      tree,
      input: { type: "tree-opened", agent: tree, kind, definition, catalog: facts, settings, rights },
      texts: data === null ? [] : [data],
      create: { agent: definition, kind, format },
      blobs,
    };
  }

  return {
    async open(opening) {
      try {
        await loop.submit(await submissionOf(opening));
      } catch (error) {
        const unknown = error instanceof ErrandError && error.code === "commit-unknown";
        if (!unknown || (await store.tree(opening.tree)) === null) throw error;
      }
    },
    async start(opening, { input, text }) {
      const { tree, data, kind } = opening;
      const submission = await submissionOf(opening);
      const place = { tree, parent: tree, depth: kind === "host" ? 0 : 1, data };
      const checked = input.type === "run-asked" ? await parts.delegations.checkRequest(place, input, text) : undefined;
      // Both are queued in the same tick of the event loop, so the commit loop takes them together.
      const [opened, posted] = await Promise.allSettled([
        loop.submit(submission),
        parts.posts.post(tree, input, [text], true, checked),
      ]);
      // If the outcome of the commit is unknown, the message is looked up. It is durable exactly if the tree is.
      if (posted.status === "rejected") throw opened.status === "rejected" ? opened.reason : posted.reason;
      return posted.value;
    },
    async fork(origin, at, root) {
      const record = await store.tree(origin);
      if (record === null) throw treeUnknown(origin, store);
      if (root === undefined) requireModel(catalog, record.agent);
      const id = asTreeId(parts.newId());
      const stepped = await forkTree({
        store,
        source: parts.source,
        library: parts.library,
        catalog,
        origin: record,
        at,
        id,
        now: parts.clock.now(),
        seed: world.random(SEED_DIGITS),
        salt: world.random(SALT_DIGITS),
        root,
      });
      parts.starter.defer(id, [stepped]);
      await parts.trees.load(id);
      return id;
    },
  };
}

/** `costPerTree` needs the model's price: a model of unknown price must not count as free. */
function requirePrice(root: DefinitionFacts | undefined, { limits }: Settings): void {
  if (limits.costPerTree === null || root === undefined || root.price !== null) return;
  throw new ErrandError("price-unknown", `The price of ${root.model} is unknown, so costPerTree cannot be enforced.`, {
    remedy: "Give the model's price (`prices`), choose a model of known price, or set limits.tokensPerTree instead.",
  });
}
