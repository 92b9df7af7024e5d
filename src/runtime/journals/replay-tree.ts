/** Proving a journal of the store, or one that was exported: rows in, report out. Nothing is called and nothing is written. */

import type { Store } from "../../contracts/store.ts";
import type { DefinitionText } from "../../core/values/definition.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { JournalRow, Sha256 } from "../../core/journal/journal.ts";
import { replayBegin, type ReplayReport } from "../../core/journal/replay.ts";
import { definitionsOf, headRead } from "../../core/journal/row.ts";
import { treeSource } from "../../core/tree.ts";

const ROWS_AT_A_TIME = 100;

/** Where a replay reads from. */
export interface JournalSource {
  readonly rows: AsyncIterable<JournalRow> | Iterable<JournalRow>;
  /** The text of a definition by its hash, or null. */
  readonly blob: (hash: string) => Promise<string | null>;
}

export async function replayJournal(source: JournalSource, sha256: Sha256): Promise<ReplayReport> {
  const texts = new Map<string, DefinitionText>();
  const replay = replayBegin(
    treeSource(sha256, (hash) => texts.get(hash) ?? { name: "", description: "", prompt: "", tools: [] }),
  );
  for await (const row of source.rows) {
    for (const hash of definitionHashes(row)) {
      const text = texts.has(hash) ? null : await source.blob(hash);
      const read = text !== null && sha256(text) === hash ? definitionRead(text) : null;
      if (read !== null) texts.set(hash, read);
    }
    if (!replay.take(row)) break;
  }
  return replay.report();
}

/** A definition from a file may be any text with the right hash; what is none is as good as missing. */
function definitionRead(text: string): DefinitionText | null {
  try {
    return JSON.parse(text) as DefinitionText;
  } catch {
    return null;
  }
}

/** Hashes of the definitions that a row names. A row that cannot be read names none. */
export function definitionHashes(row: JournalRow): string[] {
  try {
    return definitionsOf(headRead(row.head).input).map(({ hash }) => hash);
  } catch {
    return [];
  }
}

export async function* storedRows(
  store: Store,
  tree: TreeId,
  through = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<JournalRow> {
  for (let from = 1; from <= through;) {
    const rows = await store.rows(tree, from, Math.min(ROWS_AT_A_TIME, through - from + 1));
    const last = rows.at(-1);
    if (last === undefined) return;
    // Not `yield*`, which waits for each of them twice.
    for (const row of rows) yield row;
    from = last.seq + 1;
  }
}
