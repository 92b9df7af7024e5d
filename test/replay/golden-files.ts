/** Where golden journals are, and how their names tell which revision wrote them. */

import { existsSync, readdirSync } from "node:fs";
import { ROW_REVISION } from "../../src/core/journal/revision.ts";

const FOLDER = new URL("golden/", import.meta.url);

export const GOLDEN_REMEDY =
  `Journals of revision ${ROW_REVISION} are final. If the change was meant, raise DECIDE_REVISION (a decision) or ` +
  "CONTEXT_REVISION (a text that models read) in src/core/journal/revision.ts and run `node scripts/run.mjs golden`, " +
  "which adds the journals of the new revision.";

export function goldenFile(scenario: string, revision = ROW_REVISION): URL {
  return new URL(`${scenario}_r${revision}.jsonl`, FOLDER);
}

export interface GoldenFile {
  readonly name: string;
  readonly scenario: string;
  readonly revision: string;
  readonly url: URL;
}

export function goldenFiles(): readonly GoldenFile[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const match = /^(.+)_r(\d+\.\d+)\.jsonl$/.exec(name);
    if (match === null) return [];
    const [, scenario = "", revision = ""] = match;
    return [{ name, scenario, revision, url: new URL(name, FOLDER) }];
  });
}

export function goldenExists(scenario: string): boolean {
  return existsSync(goldenFile(scenario));
}
