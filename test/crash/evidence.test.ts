import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { markTorn, recordOf } from "./evidence.ts";
import { scratchFolder } from "./processes.ts";

test("half a line that a killed process left is no evidence, and spoils no line after it", () => {
  const scratch = scratchFolder();
  onTestFinished(() => scratch.remove());
  const path = join(scratch.path, "record.jsonl");
  markTorn(path);
  writeFileSync(path, '{"opened":"a"}\n{"posted":"b","tr');
  expect(recordOf(path)).toEqual([{ opened: "a" }]);
  markTorn(path);
  markTorn(path);
  appendFileSync(path, '{"opened":"c"}\n');
  expect(recordOf(path)).toEqual([{ opened: "a" }, { opened: "c" }]);
});
