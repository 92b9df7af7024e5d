/**
 * A journal as a file: one JSON value a line. First a header, then the definitions the tree was made from, then its
 * rows, then a closing line. A file is data: reading one runs no tool and grants no right.
 *
 * Invariant: a changed byte anywhere is found with its line. Rows prove themselves by the chain, definitions by their
 * hash, the first and the last line by a hash of their own. Control characters and those that turn the direction of
 * text are escaped, so that a file can be looked at.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { JournalRow, Sha256 } from "../../core/journal/journal.ts";
import { jsonText } from "../../core/text/json-text.ts";
import { ErrandError } from "../../errors.ts";
import type { JournalSource } from "./replay-tree.ts";
import { definitionHashes, storedRows } from "./stored-rows.ts";

const FILE_VERSION = 1;

interface Header {
  readonly errand: "journal";
  readonly version: number;
  readonly tree: string;
  readonly agent: string;
  readonly kind: string;
  readonly format: number;
}

/** The lines of a tree's export. */
export async function* exportLines(store: Store, tree: TreeRecord, sha256: Sha256): AsyncGenerator<string> {
  const header: Header = {
    errand: "journal",
    version: FILE_VERSION,
    tree: tree.id,
    agent: tree.agent,
    kind: tree.kind,
    format: tree.format,
  };
  yield sealed(header, sha256);
  const written = new Set<string>();
  let rows = 0;
  let hash = "";
  for await (const row of storedRows(store, tree.id)) {
    for (const found of definitionHashes(row)) {
      const text = written.has(found) ? null : await store.blob(tree.id, found);
      written.add(found);
      if (text !== null) yield jsonText({ blob: found, text });
    }
    yield jsonText({ seq: row.seq, head: row.head, body: row.body, hash: row.hash });
    rows += 1;
    hash = row.hash;
  }
  yield sealed({ end: rows, hash }, sha256);
}

function sealed(value: object, sha256: Sha256): string {
  return jsonText({ ...value, seal: sha256(JSON.stringify(value)) });
}

/** A file that is not whole: the last good line, and what is wrong with the next. */
export interface FileProblem {
  readonly line: number;
  readonly problem: string;
}

export interface ReadFile extends JournalSource {
  readonly header: Header;
  /** The first line that is damaged, found while the rows are read; null once all of them were good. */
  problem(): FileProblem | null;
}

/** Reads an export line by line. Throws only when it is no export at all. */
export async function readJournalFile(lines: AsyncIterable<string>, sha256: Sha256): Promise<ReadFile> {
  const iterator = lines[Symbol.asyncIterator]();
  const first = await iterator.next();
  const header = first.done === true ? null : unsealed(first.value, sha256);
  if (header === null || header["errand"] !== "journal") {
    throw new ErrandError("file-damaged", "Line 1 is not the header of an exported journal, or was changed.", {
      remedy: "Export the tree again with: errand export TREE",
    });
  }
  if (header["version"] !== FILE_VERSION) {
    throw new ErrandError(
      "store-too-new",
      `The file has version ${String(header["version"])}; this Errand reads ${FILE_VERSION}.`,
    );
  }
  const blobs = new Map<string, string>();
  let found: FileProblem | null = { line: 2, problem: "the file was not read to its end" };

  async function* rows(): AsyncGenerator<JournalRow> {
    let line = 1;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      line += 1;
      const read = lineRead(next.value, sha256);
      if (typeof read === "string") {
        found = { line, problem: read };
        return;
      }
      if (read.kind === "end") {
        const rest = await iterator.next();
        found = rest.done === true ? null : { line: line + 1, problem: "there is more after the closing line" };
        return;
      }
      if (read.kind === "blob") blobs.set(read.hash, read.text);
      else yield read.row;
    }
    found = { line: line + 1, problem: "the closing line is missing: the file is cut off" };
  }

  return {
    header: header as unknown as Header,
    rows: rows(),
    blob: async (hash) => blobs.get(hash) ?? null,
    problem: () => found,
  };
}

function unsealed(line: string, sha256: Sha256): Record<string, unknown> | null {
  const value = objectOf(line);
  if (value === null) return null;
  const { seal, ...rest } = value;
  return sha256(JSON.stringify(rest)) === seal && writtenAs(value, line) ? rest : null;
}

/** As it is written now, or as it was before control characters were escaped. */
function writtenAs(value: object, line: string): boolean {
  return jsonText(value) === line || JSON.stringify(value) === line;
}

type Line = { kind: "blob"; hash: string; text: string } | { kind: "row"; row: JournalRow } | { kind: "end" };

/** What a line holds, or what is wrong with it. */
function lineRead(line: string, sha256: Sha256): Line | string {
  const value = objectOf(line);
  if (value === null || !writtenAs(value, line)) return "it is not a line that Errand wrote";
  if ("end" in value) return unsealed(line, sha256) === null ? "the closing line was changed" : { kind: "end" };
  const { blob, text, seq, head, body, hash } = value;
  if (typeof blob === "string" && typeof text === "string") {
    return sha256(text) === blob ? { kind: "blob", hash: blob, text } : "a definition does not match its hash";
  }
  const whole = typeof seq === "number" && typeof head === "string" && typeof hash === "string";
  if (!whole || (typeof body !== "string" && body !== null)) return "it is no row of a journal";
  return { kind: "row", row: { seq, head, body, hash } };
}

function objectOf(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
