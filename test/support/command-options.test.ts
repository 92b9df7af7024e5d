import { expect, test } from "vitest";
import { readOptions } from "./command-options.ts";

const command = { name: "npm run try --", does: "Tries things.", examples: ["--times 3"] };
const known = {
  times: { kind: "count", help: "How often.", default: 2 },
  lanes: { kind: "count", help: "At a time." },
  folder: { kind: "text", help: "Where.", default: "here" },
  only: { kind: "many", help: "Just this one." },
  json: { kind: "flag", help: "For machines." },
} as const;
const read = (...args: string[]): unknown => readOptions(command, known, args);

test("an absent option has its default", () => {
  expect(read()).toEqual({ values: { times: 2, lanes: undefined, folder: "here", only: [], json: false } });
  expect(read("--times", "7", "--lanes=1", "--folder", "there", "--only", "a", "--only", "b", "--json")).toEqual({
    values: { times: 7, lanes: 1, folder: "there", only: ["a", "b"], json: true },
  });
});

test.each([
  { args: ["--times", "many"], problem: '--times takes a whole number, not "many".' },
  { args: ["--times", "1.5"], problem: '--times takes a whole number, not "1.5".' },
  { args: ["--times="], problem: '--times takes a whole number, not "".' },
  { args: ["--nonsense"], problem: "Unknown option '--nonsense'." },
  { args: ["--times"], problem: "Option '--times <value>' argument missing." },
  { args: ["word"], problem: "Unexpected argument 'word'." },
])("$args is wrong use: $problem", ({ args, problem }) => {
  expect(read(...args)).toEqual({ problem });
});

test.each(["--help", "-h"])("%s names every option with its default, and an example", (flag) => {
  expect(read("--times", "3", flag)).toEqual({
    help: `npm run try -- [options]
Tries things.

  --times N      How often. Default: 2.
  --lanes N      At a time.
  --folder TEXT  Where. Default: here.
  --only TEXT    Just this one.
  --json         For machines.

  npm run try -- --times 3
`,
  });
});
