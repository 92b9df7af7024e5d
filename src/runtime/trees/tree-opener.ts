/** How trees come into being: opened empty, opened with a first message, or forked off another. */

import type { Store } from "../../contracts/store.ts";
import type { AgentKind } from "../../core/input.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import { asTreeId, SALT_DIGITS, SEED_DIGITS, type TreeId } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { Settings } from "../../core/values/limits.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import type { TreeSource } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";
import type { Beginnings } from "../effects/effect-starter.ts";
import { type Catalog, catalogOfTree, requireModels } from "../definitions/catalog.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { DefinitionLibrary } from "../definitions/definition-library.ts";
import { forkTree } from "./fork-tree.ts";
import type { PostInput } from "../messages/mail.ts";
import type { Posts } from "../messages/posts.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { TreeCache } from "./tree-cache.ts";

export interface Openings {
  open(definition: string, kind: AgentKind): Promise<TreeId>;
  /** Opens the tree with its first message: one commit holds both, so that there is never one without the other. */
  start(
    definition: string,
    kind: AgentKind,
    tree: TreeId,
    first: { readonly input: PostInput; readonly text: Json },
  ): Promise<void>;
  /** Makes a new tree of the first rows of another, and goes on with it. */
  fork(origin: TreeId, at: number, root: DefinitionFacts | undefined): Promise<TreeId>;
}

interface OpeningsParts {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly library: DefinitionLibrary;
  readonly settings: Settings;
  readonly rights: ProcessRights;
  readonly source: TreeSource;
  readonly loop: CommitLoop;
  readonly posts: Posts;
  readonly trees: TreeCache;
  readonly beginnings: Beginnings;
  readonly now: () => number;
  readonly random: (digits: number) => string;
  readonly newId: () => string;
}

export function createOpenings(parts: OpeningsParts): Openings {
  const { store, catalog, loop, random } = parts;

  async function opening(definition: string, kind: AgentKind, tree: TreeId): Promise<Submission> {
    requireModels(catalog);
    if (!catalog.facts.some((facts) => facts.name === definition)) {
      throw new ErrandError("definition-unknown", `There is no agent definition "${definition}".`, {
        remedy: `Known: ${catalog.facts.map((facts) => facts.name).join(", ")}.`,
      });
    }
    const { facts, blobs } = catalogOfTree(catalog, definition);
    const { settings, rights } = parts;
    requirePrice(
      facts.find((known) => known.name === definition),
      settings,
    );
    const format = Math.min(await store.format(), JOURNAL_FORMAT);
    return {
      tree,
      input: { type: "tree-opened", agent: tree, kind, definition, catalog: facts, settings, rights },
      texts: [],
      create: { agent: definition, kind, format },
      blobs,
    };
  }

  return {
    async open(definition, kind) {
      const tree = asTreeId(parts.newId());
      try {
        await loop.submit(await opening(definition, kind, tree));
      } catch (error) {
        const unknown = error instanceof ErrandError && error.code === "commit-unknown";
        if (!unknown || (await store.tree(tree)) === null) throw error;
      }
      return tree;
    },
    async start(definition, kind, tree, { input, text }) {
      const submission = await opening(definition, kind, tree);
      // Both are queued in this turn of the event loop, which the commit loop takes together.
      const [opened, posted] = await Promise.allSettled([
        loop.submit(submission),
        parts.posts.post(tree, input, [text], true),
      ]);
      // Of a commit in doubt the message learns whether it became durable; then so did the tree.
      if (posted.status === "rejected") throw opened.status === "rejected" ? opened.reason : posted.reason;
    },
    async fork(origin, at, root) {
      const record = await store.tree(origin);
      if (record === null) throw new ErrandError("tree-unknown", `There is no tree ${origin} in ${store.description}.`);
      requireModels(catalog);
      const id = asTreeId(parts.newId());
      const stepped = await forkTree({
        store,
        source: parts.source,
        library: parts.library,
        catalog,
        origin: record,
        at,
        id,
        now: parts.now(),
        seed: random(SEED_DIGITS),
        salt: random(SALT_DIGITS),
        root,
      });
      parts.beginnings.hold(id, [stepped]);
      await parts.trees.load(id);
      return id;
    },
  };
}

/** A limit of money cannot be kept where the price is not known; nothing is counted as free. */
function requirePrice(root: DefinitionFacts | undefined, { limits }: Settings): void {
  if (limits.costPerTree === null || root === undefined || root.price !== null) return;
  throw new ErrandError(
    "price-unknown",
    `The price of ${root.model} is not known, so that costPerTree cannot be kept.`,
    {
      remedy: "Give the model's price (`prices`), choose a model of known price, or set limits.tokensPerTree instead.",
    },
  );
}
