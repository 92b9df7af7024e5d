/** The heads of all golden journals: what the kernel has written of every kind of row. */

import { readdirSync, readFileSync } from "node:fs";

const GOLDEN = new URL("../../test/replay/golden/", import.meta.url);

export function goldenHeads(): readonly string[] {
  return readdirSync(GOLDEN)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(new URL(name, GOLDEN), "utf8").trim().split("\n"))
    .map((line) => (JSON.parse(line) as { readonly head?: string }).head)
    .filter((head) => head !== undefined);
}
