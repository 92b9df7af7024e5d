import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiffLine, lineDiff } from "./line-diff.ts";

const shown = (lines: readonly DiffLine[]): string[] =>
  lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-", place: "", remark: "" }[kind]}${text}`);

test("a change stands with three lines around it, far changes apart", () => {
  const before = Array.from({ length: 20 }, (_, index) => `${index + 1}\n`);
  const after = before.with(2, "three\n").with(16, "seventeen\n").join("");
  expect(shown(lineDiff(before.join(""), after))).toEqual([
    ..."@@ -1,6 +1,6 @@| 1| 2|-3|+three| 4| 5| 6".split("|"),
    ..."@@ -14,7 +14,7 @@| 14| 15| 16|-17|+seventeen| 18| 19| 20".split("|"),
  ]);
});

test("a new file, an emptied one, and a last line without its end", () => {
  expect(shown(lineDiff("", "a\nb\n"))).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  expect(shown(lineDiff("a\n", ""))).toEqual(["@@ -1,1 +0,0 @@", "-a"]);
  expect(shown(lineDiff("a\n", "a"))).toEqual(["@@ -1,1 +1,1 @@", "-a", "+a", "\\ No newline at end of file"]);
  expect(lineDiff("same\n", "same\n")).toEqual([]);
});

const text = fc.array(fc.constantFrom("a", "b", "c", "d", ""), { maxLength: 30 }).map((lines) => lines.join("\n"));

test("applied to the text before, a difference gives the text after", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applied(before, lineDiff(before, after))).toBe(after);
    }),
  );
});

/** What `patch` would do. */
function applied(before: string, diff: readonly DiffLine[]): string {
  const lines = before.split(/(?<=\n)/).filter((line) => line !== "");
  const out: string[] = [];
  let at = 0;
  for (const [index, { kind, text: line }] of diff.entries()) {
    const end = diff[index + 1]?.kind === "remark" ? "" : "\n";
    if (kind === "place") {
      const [, start = "", count = ""] = /^@@ -(\d+),(\d+)/.exec(line) ?? [];
      const until = count === "0" ? Number(start) : Number(start) - 1;
      out.push(...lines.slice(at, until));
      at = until;
    } else if (kind === "added") out.push(line + end);
    else if (kind === "same" || kind === "removed") {
      expect(lines[at]).toBe(line + end);
      if (kind === "same") out.push(line + end);
      at += 1;
    }
  }
  return [...out, ...lines.slice(at)].join("");
}

test("2 MiB of lines that all differ, and one very long line, take little time", () => {
  const many = (name: string): string =>
    Array.from({ length: 200_000 }, (_, index) => `${name}${index % 977}\n`).join("");
  const began = performance.now();
  expect(lineDiff(many("a"), many("b"))).toHaveLength(400_001);
  expect(lineDiff("x".repeat(2_000_000), "y".repeat(2_000_000))).toHaveLength(5);
  expect(performance.now() - began).toBeLessThan(5_000);
});
