/**
 * The texts of definitions, by hash: those this process was given, and those that trees in the store were made from.
 * Contexts are built from the recorded ones, whatever the files say today.
 */

import type { Store } from "../../contracts/store.ts";
import type { DefinitionFacts, DefinitionText } from "../../core/values/definition.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { definitionsOf, headRead } from "../../core/journal/row.ts";
import type { TreeState } from "../../core/state.ts";
import { ErrandError } from "../../errors.ts";

export interface DefinitionLibrary {
  text(hash: string): DefinitionText;
  /** Reads what a tree's state needs. */
  readFor(store: Store, tree: TreeId, state: TreeState): Promise<void>;
  /** Reads what folding a row needs. */
  readForRow(store: Store, tree: TreeId, row: JournalRow): Promise<void>;
}

export function createDefinitionLibrary(given: Iterable<readonly [string, DefinitionText]>): DefinitionLibrary {
  const texts = new Map(given);

  async function read(store: Store, tree: TreeId, definitions: Iterable<DefinitionFacts>): Promise<void> {
    for (const { hash, name } of definitions) {
      if (texts.has(hash)) continue;
      const text = await store.blob(tree, hash);
      if (text === null) {
        throw new ErrandError(
          "store-corrupt",
          `The definition "${name}" that tree ${tree} was made from is missing from the store.`,
        );
      }
      texts.set(hash, JSON.parse(text) as DefinitionText);
    }
  }

  return {
    text(hash) {
      const text = texts.get(hash);
      if (text === undefined) throw new ErrandError("store-corrupt", `The text of definition ${hash} was not read.`);
      return text;
    },
    async readFor(store, tree, state) {
      await read(store, tree, state.catalog.values());
      for (const agent of state.agents.values()) await read(store, tree, [agent.definition]);
    },
    async readForRow(store, tree, row) {
      await read(store, tree, definitionsOf(headRead(row.head).input));
    },
  };
}
