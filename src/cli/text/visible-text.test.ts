import { expect, test } from "vitest";
import { commandLine, visibleText } from "./visible-text.ts";

test("what cannot be seen is written out, and everything else stays", () => {
  expect(visibleText("naïve 漢字 🙂 a\tb")).toBe("naïve 漢字 🙂 a\tb");
  expect(visibleText("a\r")).toBe("a\\u{d}");
  expect(visibleText("\u001b]0;x\u0007\u202e\u200b\u00a0\ufeff\u{e0041}\ud800")).toBe(
    "\\u{1b}]0;x\\u{7}\\u{202e}\\u{200b}\\u{a0}\\u{feff}\\u{e0041}\\u{d800}",
  );
});

test("words of a command cannot be taken for others", () => {
  expect(commandLine(["npm", "run", "build:all"])).toBe("npm run build:all");
  expect(commandLine(["rm", "-rf", "a b", "", "it's", "$HOME", "a;b"])).toBe(
    `rm -rf 'a b' '' 'it'\\''s' '$HOME' 'a;b'`,
  );
  expect(commandLine(["echo", "a\nb", 'q"\u001b'])).toBe(`echo "a\\u{a}b" "q\\"\\u{1b}"`);
});
