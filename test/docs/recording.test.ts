/** The recording in the README is safe to show anywhere, tells the whole story, and is what `npm start` shows today. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { animatedSvg } from "../../scripts/recording/animated-svg.ts";
import { recordScreen } from "../../scripts/recording/record-screen.ts";
import { projectFolder, runErrand, terminalAvailable } from "../cli/support/errand-process.ts";
import { recordedScreens } from "./recorded-screens.ts";

const svg = readFileSync("docs/start.svg", "utf8");
const START = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));

const { screens, still } = recordedScreens(svg);

/** A line with its numbers left out: they differ from run to run. */
const inKind = (line: string): string => line.replaceAll(/\d+(?:\.\d+)?/g, "#").trim();

/** What kinds of lines there are: the two above the steps, the word of each step, and the proof. */
function kinds(lines: readonly string[]): string[] {
  const [title = "", source = ""] = lines.slice(lines.findIndex((line) => line.startsWith("An agent ")));
  const words = lines.flatMap((line) => /^ *\d+\.\ds +(\w+) /.exec(line)?.[1] ?? []);
  return [title, source, ...new Set(words.toSorted()), inKind(lines.at(-1) ?? "")];
}

test("the file is small, loads nothing, runs nothing and describes itself", () => {
  expect(Buffer.byteLength(svg)).toBeLessThan(200 * 1_024);
  expect(svg).not.toMatch(/<script|<image|<foreignObject|href|url\(|@import|@font-face|\bon\w+=/i);
  expect(svg.match(/https?:[^"]*/g)).toEqual(["http://www.w3.org/2000/svg"]);
  expect(svg).toMatch(
    /^<svg [^>]*role="img" aria-labelledby="title description">\n<title id="title">[^<]{10,}<\/title>/,
  );
  expect(svg).toMatch(/<desc id="description">[^<]{100,}<\/desc>/);
  expect(svg).toContain("prefers-color-scheme:light");
});

test("it moves only for readers who have not asked for less motion", () => {
  const guarded = svg.slice(svg.indexOf("@media (prefers-reduced-motion:no-preference){"), svg.indexOf("</style>"));
  expect(guarded.match(/animation:/g)).toEqual(svg.match(/animation:/g));
  expect(screens.length).toBeGreaterThan(20);
});

test("it shows a tree of four children, the kill, the same tree resumed, and the proof", () => {
  const children = (lines: readonly string[]): number => lines.filter((line) => /^[├└]─/.test(line)).length;
  const has = (lines: readonly string[], text: string): boolean => lines.some((line) => line.includes(text));
  const killed = screens.findIndex((lines) => has(lines, "by SIGKILL"));
  const resumed = screens.findIndex((lines) => has(lines, "starts: errand resume"));
  expect(screens.slice(0, killed).some((lines) => children(lines) === 4)).toBe(true);
  expect(screens.slice(killed, resumed).some((lines) => children(lines) === 4)).toBe(true);
  expect(screens.slice(resumed).some((lines) => children(lines) === 4)).toBe(true);
  expect(killed).toBeGreaterThan(0);
  expect(resumed).toBeGreaterThan(killed);
  expect(screens.at(-1)?.at(-1)).toMatch(/^killed at row \d+ · .+ · replay identical \(\d+ rows\)$/);
});

test("without animation it shows the end, with the kill and the proof", () => {
  expect(still).toEqual(screens.at(-1));
  expect(still.join("\n")).toContain("by SIGKILL");
  expect(still.join("\n")).not.toContain("─");
});

test("npm start shows the same kinds of lines today; else npm run record makes a new recording", async () => {
  const { folder, remove } = projectFolder();
  const { code, out, err } = await runErrand([], { folder, entry: START }).finally(remove);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(kinds(still)).toEqual(kinds(out.trimEnd().split("\n")));
});

test.runIf(terminalAvailable)("the recorder keeps what a screen showed, and when", async () => {
  const erase = "\\r\\033[K";
  const script = `printf 'a <first> line\\n\\033[32mgreen\\033[0m'; sleep 0.3; printf '${erase}"last" & done'`;
  const size = { columns: 30, rows: 5 };
  const command = `sh -c "${script.replaceAll('"', '\\"')}"`;
  const env = { ...process.env, TERM: "xterm-256color" };
  const { frames, exitCode } = await recordScreen({ command, folder: ".", env, size });
  expect(exitCode).toBe(0);
  const about = { heading: "sh", title: "A recording", description: "Of a test", columns: 30, lastMs: 1_000 };
  const recorded = animatedSvg({ frames, ...about });
  expect(recordedScreens(recorded)).toEqual({
    screens: [
      ["a <first> line", "green"],
      ["a <first> line", '"last" & done'],
    ],
    still: ["a <first> line", '"last" & done'],
  });
  expect(recorded).toMatch(/<text class="\w+ past c2"[^>]*>green</);
});
