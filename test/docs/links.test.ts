/** Links between the pages lead to files and headings that exist, and decisions are numbered without gaps. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const underDocs = readdirSync("docs", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => join("docs", name));
const pages = [
  "AGENTS.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "README.md",
  "bench/NOTES.md",
  "evals/README.md",
  ...underDocs,
];

/** The anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): string[] {
  const headings = [...readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pages)("the links of %s lead somewhere", (page) => {
  const text = readFileSync(page, "utf8").replaceAll(/^```[^]*?^```/gm, "");
  const links = [...text.matchAll(/(?:\]\(|src=")([^)\s"]+)[)"]/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    return !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

test("decisions are numbered without gaps, in their file names and in their titles", () => {
  const files = readdirSync("docs/decisions").toSorted();
  const titles = files.map((file) => readFileSync(join("docs/decisions", file), "utf8").split("\n")[0]);
  for (const [index, file] of files.entries()) {
    expect(file).toMatch(new RegExp(`^${String(index + 1).padStart(4, "0")}-[a-z0-9-]+\\.md$`));
    expect(titles[index]).toMatch(new RegExp(`^# ${index + 1}\\. \\S.{10,}$`));
  }
  expect(files.length).toBeGreaterThan(15);
});
