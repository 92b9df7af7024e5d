import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { colouredText, terminalLine, terminalText } from "./terminal-text.ts";

const ESC = "\u001b";

describe("E4: terminalText", () => {
  test.each([
    ["colours", `${ESC}[31;1mred${ESC}[0m`, "red"],
    ["cursor movements and erasing", `a${ESC}[2J${ESC}[10;10Hb`, "ab"],
    ["a title, ended by a bell", `a${ESC}]0;owned\u0007b`, "ab"],
    ["a link, ended by a string terminator", `${ESC}]8;;https://x.y${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
    ["a device control string", `a${ESC}P1$r0m${ESC}\\b`, "ab"],
    ["the same with 8-bit controls", "a\u009b2Jb\u009d0;t\u009cc", "abc"],
    ["a reset", `a${ESC}cb`, "ab"],
    ["a sequence that is never ended", `a${ESC}]0;title`, "a]0;title"],
    ["a sequence inside a sequence", `${ESC}${ESC}[31m[31mx`, "[31mx"],
    ["bells, backspaces, deletes", "a\u0007\b\u007fb", "ab"],
    ["a carriage return that would overwrite the line", "safe\rrm -rf", "safe\nrm -rf"],
    ["Windows line ends", "a\r\nb", "a\nb"],
    ["characters that turn the direction of text", "a\u202egnp.exe\u2066b", "agnp.exeb"],
    ["half of a surrogate pair", "a\ud800b", "a\ufffdb"],
  ])("takes out %s", (_what, text, expected) => {
    expect(terminalText(text)).toBe(expected);
  });

  test("leaves text as it is: lines, tabs, other scripts, pictures", () => {
    const text = "línea 1\n\tcode(); 日本語 👩‍👩‍👧 a < b && [x]\n";
    expect(terminalText(text)).toBe(text);
  });

  test("lets no control character but line feed and tab through, whatever the text", () => {
    const hostile = fc.string({
      unit: fc.constantFrom(ESC, "[", "]", "\\", "\u0007", "\u009b", "\u009c", "0", ";", "m", "P", "a"),
    });
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: "binary" })), (text) => {
        // oxlint-disable-next-line no-control-regex
        expect(terminalText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });

  test("takes a megabyte of beginnings without slowing down", () => {
    const started = performance.now();
    for (const beginning of [`${ESC}]`, `${ESC}[1;`, `${ESC}P`, ESC, "\u009d"]) terminalText(beginning.repeat(300_000));
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe("colouredText", () => {
  test("keeps what looks like a colour of Errand, and nothing else", () => {
    const red = "\u001b[31;1234;5m";
    expect(colouredText(`${red}a\u001b[31mb\u001b[2Jc\u001b]0;t\u0007\u001b[39;1234;5m`)).toBe(
      `${red}abc\u001b[39;1234;5m`,
    );
    expect(colouredText(`\u001b\u001b[31;1m[2J\u009b\r`)).toBe("\u001b[31;1m[2J\n");
  });

  test("leaves no other control, whatever the text", () => {
    const hostile = fc.string({
      unit: fc.constantFrom(ESC, "[", "]", "3", "1", ";", "m", "?", "h", "A", "\u009b", "\r", "x"),
    });
    fc.assert(
      fc.property(hostile, (text) => {
        // oxlint-disable-next-line no-control-regex
        const rest = colouredText(text).replaceAll(/\u001b\[\d{1,2}(?:;\d{1,4})+m/g, "");
        // oxlint-disable-next-line no-control-regex
        expect(rest).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});

test("terminalLine is one line", () => {
  expect(terminalLine(" a\n\n b\t\u001b[1mc ")).toBe("a b c");
});
