/** What the packed package holds, as a user installs it. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { freshFolder, packedProject } from "./packed-project.ts";

const run = promisify(execFile);

beforeAll(async () => {
  await packedProject();
}, 240_000);

/** The import of the package may take so long. Its processor time is measured: tests beside it do not change that. */
const MOST_IMPORT_MS = 60;

async function nodeIn(folder: string, ...args: readonly string[]) {
  try {
    return { code: 0, ...(await run(process.execPath, args, { cwd: folder })) };
  } catch (error) {
    return error as { readonly code: number; readonly stdout: string; readonly stderr: string };
  }
}

test("every relative link of the packed pages leads to a packed file", async () => {
  const { files, installed } = await packedProject();
  const pages = files.filter((path) => path.endsWith(".md"));
  expect(pages).toContain("README.md");
  expect(pages).toContain("docs/guide/library.md");
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(installed, page), "utf8").replaceAll(/^```[^]*?^```/gm, "");
    const links = [...text.matchAll(/(?:\]\(|src=")([^)\s"#]+)[^)\s"]*[)"]/g)].map(([, link = ""]) => link);
    return links
      .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(join(installed, normalize(join(dirname(page), link)))))
      .map((link) => `${page} → ${link}`);
  });
  expect(broken).toEqual([]);
});

test("no script runs when the package is installed", async () => {
  const { installed } = await packedProject();
  const { scripts } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as { scripts: object };
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
});

test("every program of the package has a source map that holds its sources", async () => {
  const { files, installed } = await packedProject();
  const programs = files.filter((path) => path.endsWith(".js"));
  const passing: string[] = [];
  for (const path of programs) {
    const [, name] = /\n\/\/# sourceMappingURL=(\S+)\s*$/.exec(readFileSync(join(installed, path), "utf8")) ?? [];
    // The bundler gives no map to a file that only passes exports on.
    if (name === undefined) {
      passing.push(path);
      continue;
    }
    const map = JSON.parse(readFileSync(join(installed, dirname(path), name), "utf8")) as {
      readonly sources: readonly string[];
      readonly sourcesContent?: readonly (string | null)[];
    };
    expect(map.sourcesContent?.length, path).toBe(map.sources.length);
    expect(map.sourcesContent, path).not.toContain(null);
  }
  expect(programs.length - passing.length).toBeGreaterThan(20);
  for (const path of passing) expect(statSync(join(installed, path)).size, path).toBeLessThan(10_000);
});

test("an uncaught error is short, and with source maps it names the line of the source", async () => {
  const folder = freshFolder(await packedProject());
  const program = 'import { createErrand } from "errand"; await createErrand({ store: "" });';
  const plain = await nodeIn(folder, "--input-type=module", "-e", program);
  expect(plain.code).toBe(1);
  expect(plain.stderr).toContain("createErrand needs a store.");
  expect(plain.stderr).toContain("remedy: 'Say where journals are kept");
  expect(
    plain.stderr
      .trim()
      .split("\n")
      .filter((line) => line.trim() !== "").length,
  ).toBeLessThanOrEqual(20);
  expect(Math.max(...plain.stderr.split("\n").map((line) => line.length))).toBeLessThan(300);
  const mapped = await nodeIn(folder, "--enable-source-maps", "--input-type=module", "-e", program);
  expect(mapped.stderr).toMatch(/src\/runtime\/create-runtime\.ts:\d+/);
});

test(`the import takes at most ${MOST_IMPORT_MS} ms, and loads no package`, async () => {
  const folder = freshFolder(await packedProject());
  const program = `
    const began = process.cpuUsage();
    await import("errand");
    const { user, system } = process.cpuUsage(began);
    console.log((user + system) / 1000);`;
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1)
    times.push(Number((await nodeIn(folder, "--input-type=module", "-e", program)).stdout));
  expect(Math.min(...times)).toBeGreaterThan(0);
  expect(times.toSorted((a, b) => a - b)[2]).toBeLessThan(MOST_IMPORT_MS);
});

test("an error that nothing catches is printed in ten lines: what, why, and where in the user's program", async () => {
  const program = freshFolder(await packedProject());
  writeFileSync(
    join(program, "main.mjs"),
    'import { createErrand } from "errand";\nawait createErrand({ store: "memory", model: "nobody/none" });\n',
  );
  const { code, stderr } = await nodeIn(program, "main.mjs");
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("Node.js v"));
  expect(code).toBe(1);
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(stderr).toContain("ErrandError: ");
  expect(stderr).toContain("main.mjs:2:");
  expect(stderr).toContain("code: 'model-unknown'");
  expect(stderr).not.toContain("details: {}");
});
