/** Proves a journal of the store, or an exported one. Nothing is called and nothing is written. */

import type { DefinitionText } from "../../core/values/definition.ts";
import type { JournalRow, Sha256 } from "../../core/journal/journal.ts";
import { replayBegin, type ReplayReport } from "../../core/journal/replay.ts";
import { treeSource, type TreeSource } from "../../core/tree.ts";
import { definitionHashes } from "./stored-rows.ts";

/** Where a replay reads from. */
export interface JournalSource {
  readonly rows: AsyncIterable<JournalRow> | Iterable<JournalRow>;
  /** The text of a definition by its hash, or null. */
  readonly blob: (hash: string) => Promise<string | null>;
}

export async function replayJournal(journal: JournalSource, sha256: Sha256): Promise<ReplayReport> {
  const { source, readFor } = definitionTexts(journal.blob, sha256);
  const replay = replayBegin(source);
  for await (const row of journal.rows) {
    await readFor(row);
    if (!replay.take(row)) break;
  }
  return replay.report();
}

const NO_DEFINITION: DefinitionText = { name: "", description: "", prompt: "", tools: [] };

/**
 * A source for folding rows: `readFor` reads the definitions that a row names. One that is missing or damaged is empty.
 */
export function definitionTexts(
  blob: JournalSource["blob"],
  sha256: Sha256,
): { readonly source: TreeSource; readFor(row: JournalRow): Promise<void> } {
  const texts = new Map<string, DefinitionText>();
  return {
    source: treeSource(sha256, (hash) => texts.get(hash) ?? NO_DEFINITION),
    async readFor(row) {
      for (const hash of definitionHashes(row)) {
        const text = texts.has(hash) ? null : await blob(hash);
        const read = text !== null && sha256(text) === hash ? parsed(text) : null;
        if (read !== null) texts.set(hash, read);
      }
    },
  };
}

/** A file may hold any text with the right hash. */
function parsed(text: string): DefinitionText | null {
  try {
    return JSON.parse(text) as DefinitionText;
  } catch {
    return null;
  }
}
