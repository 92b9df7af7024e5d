import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { createColours } from "../text/colours.ts";
import { displayWidth } from "../text/display-width.ts";
import { createMarkdownStream, markdownRows } from "./markdown.ts";

const TOKEN = "1234;5678";
const colours = createColours(TOKEN);

function plain(text: string, width = 40): string[] {
  return markdownRows(text, { width, colours: createColours(null) });
}

/** With the colours as a terminal gets them. */
function coloured(text: string, width = 40): string {
  return markdownRows(text, { width, colours }).join("\n").replaceAll(`;${TOKEN}m`, "m");
}

const SAMPLE = `# The *store*

It is opened in \`open.ts\`, **once**. See [the docs](https://docs.example/a_(b)) or <https://x.example>.

- a point that is longer than the row has room for, so it is wrapped
  1. a numbered one
- [x] done, [ ] not

> quoted words that are longer than the row has room for
> > twice

\`\`\`ts
const x = **2**; // a | b
\`\`\`

| name | what | count |
|------|:----:|------:|
| \`a\\|b\` | long words in a cell that must be wrapped in here | 12 |
| 世界 | wide | 3 |
***
The end`;

describe("blocks", () => {
  test("headings, emphasis, lists, quotes, code, tables, rules and links", () => {
    expect(plain(SAMPLE)).toEqual([
      "The store",
      "",
      "It is opened in open.ts, once. See the",
      "docs (https://docs.example/a_(b)) or",
      "https://x.example.",
      "",
      "• a point that is longer than the row",
      "  has room for, so it is wrapped",
      "  1. a numbered one",
      "☑ done, [ ] not",
      "",
      "│ quoted words that are longer than the",
      "│ row has room for",
      "│ │ twice",
      "",
      "const x = **2**; // a | b",
      "",
      "name │ what                      │ count",
      "─────┼───────────────────────────┼──────",
      "a|b  │ long words in a cell that │    12",
      "     │ must be wrapped in here   │",
      "世界 │ wide                      │     3",
      "────────────────────────────────────────",
      "The end",
    ]);
  });

  test("styles", () => {
    expect(coloured("# A")).toBe("\u001b[4m\u001b[1mA\u001b[22m\u001b[24m");
    expect(coloured("a **b _c_** `d`")).toBe(
      "a \u001b[1mb \u001b[22m\u001b[3m\u001b[1mc\u001b[22m\u001b[23m \u001b[36md\u001b[39m",
    );
    expect(coloured("[a](u)")).toBe("\u001b[4ma\u001b[24m\u001b[2m (u)\u001b[22m");
  });

  test("where a table has no room, each cell is a line", () => {
    expect(plain("|a|b|c|\n|-|-|-|\n|one|two|three words more|\n|1|2||", 12)).toEqual([
      "a: one",
      "b: two",
      "c: three",
      "words more",
      "",
      "a: 1",
      "b: 2",
      "c:",
    ]);
  });

  test.each([
    ["a | b, and no table", ["a | b, and no table"]],
    ["| a | b |\n| - |", ["| a | b |", "| - |"]],
    ["2 * 3 * 4 and a_b_c and __init__.py", ["2 * 3 * 4 and a_b_c and __init__.py"]],
    ["**open and *never closed `too", ["**open and *never closed `too"]],
    ["\\*escaped\\* [a] (b) [c]", ["*escaped* [a] (b) [c]"]],
    ["#hashtag\n#", ["#hashtag", "#"]],
    ["```\nnever **closed**", ["never **closed**"]],
    ["````\n```\n````\nafter", ["```", "after"]],
    ["one\ntwo", ["one", "two"]],
    ["<b>html</b> &amp;", ["<b>html</b> &amp;"]],
  ])("%j stays as it was meant", (text, rows) => expect(plain(text)).toEqual(rows));
});

describe("width", () => {
  test("no row but a line of code is wider than the width, at any width", () => {
    const text = SAMPLE.replace(/```[^]*```/, "");
    for (let width = 4; width < 90; width += 1)
      for (const row of plain(text, width)) expect(displayWidth(row), `${width}: ${row}`).toBeLessThanOrEqual(width);
  });

  test("wide characters and long words are broken", () => {
    expect(plain("世界世界世界", 5)).toEqual(["世界", "世界", "世界"]);
    expect(plain("a abcdefghij b", 4)).toEqual(["a", "abcd", "efgh", "ij b"]);
  });
});

describe("a stream", () => {
  test("gives the same rows as the whole text, however it is cut", () => {
    for (const size of [1, 2, 3, 7, 50]) {
      const stream = createMarkdownStream({ width: 40, colours });
      for (let from = 0; from < SAMPLE.length; from += size) stream.write(SAMPLE.slice(from, from + size));
      expect(stream.tail(1_000)).toEqual(markdownRows(SAMPLE, { width: 40, colours }));
    }
  });

  test("shows a line before it is complete, and asking for it changes nothing", () => {
    const stream = createMarkdownStream({ width: 40, colours: createColours(null) });
    stream.write("# Titl");
    expect(stream.tail(9)).toEqual(["Titl"]);
    stream.write("e\n| a | b |");
    expect(stream.tail(9)).toEqual(["Title", "| a | b |"]);
    stream.write("\n|-|-|\n| 1 |");
    for (let times = 0; times < 2; times += 1) expect(stream.tail(9)).toEqual(["Title", "a │ b", "──┼──", "1 │"]);
    expect(stream.tail(2)).toEqual(["──┼──", "1 │"]);
    expect(stream.tail(0)).toEqual([]);
  });
});

describe("hostile text", () => {
  const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u202E\u0007\u009b1A\r\b";

  test("leaves no control and no colour of its own, in any place and however it is cut", () => {
    const places = [HOSTILE, `# ${HOSTILE}`, `- ${HOSTILE}`, `> ${HOSTILE}`, `\`\`\`${HOSTILE}\n${HOSTILE}\n\`\`\``];
    const table = `| ${HOSTILE} | b |\n|---|---|\n| \`${HOSTILE}\` | [${HOSTILE}](${HOSTILE}) |`;
    for (const text of [...places, table, `**${HOSTILE}** [a](x${HOSTILE}y) <https://x${HOSTILE}>`]) {
      for (const size of [1, 4, text.length]) {
        const stream = createMarkdownStream({ width: 40, colours });
        for (let from = 0; from < text.length; from += size) stream.write(text.slice(from, from + size));
        const own = stream
          .tail(100)
          .join("\n")
          .replaceAll(new RegExp(`\u001b\\[\\d{1,2};${TOKEN}m`, "g"), "");
        // oxlint-disable-next-line no-control-regex
        expect(own, JSON.stringify(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
      }
    }
  });

  test("the words of a link cannot hide its address", () => {
    expect(plain("[https://good.example](https://evil.example)", 80)).toEqual([
      "https://good.example (https://evil.example)",
    ]);
  });

  const long = 100_000;
  test.each([
    ["*".repeat(long)],
    ["[".repeat(long)],
    ["_a ".repeat(long / 3)],
    ["**a *b ".repeat(long / 7)],
    [Array.from({ length: 450 }, (_, index) => "`".repeat(index + 1)).join("a")],
    [`|${"|".repeat(long)}\n${"|-".repeat(long / 2)}`],
    [`| a | b |\n|---|---|\n${"| x | y |\n".repeat(long / 10)}`],
    [`# ${" ".repeat(long)}x`],
    [`${"- ".repeat(long / 2)}x`],
    [">".repeat(long)],
    ["世".repeat(long)],
    [`a|b\n${":-".repeat(long / 2)}`],
    [`|${"a".repeat(long)}\n${" ".repeat(long)}-x`],
    [`${"~".repeat(long)}\``],
    [`~~~${" ".repeat(long)}\``],
    [`x \` ${"a".repeat(long)}\``],
  ])("%.20j… takes no longer than its length demands", (text) => {
    const began = performance.now();
    const rows = markdownRows(text, { width: 80, colours });
    expect(performance.now() - began).toBeLessThan(3_000);
    expect(stripVTControlCharacters(rows.join("")).length).toBeGreaterThan(0);
  });
});
