/** `errand replay` and `errand export`: proving a stored tree and an exported file. */

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { type Finished, records, runErrand, SLOW, startErrand, storeOf } from "./support/errand-process.ts";
import { createFakeHost } from "./support/fake-host.ts";
import { saidOf, type WorkedProject, workedProject } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let project: WorkedProject;
let lines: string[] = [];
beforeAll(async () => {
  project = await workedProject();
  mkdirSync(join(project.folder, "a-folder"));
  const { out } = await errand("export", project.tree);
  lines = out.trimEnd().split("\n");
});
afterAll(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, project);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

function written(name: string, content: string | Uint8Array): string {
  writeFileSync(join(project.folder, name), content);
  return name;
}

describe("a good journal is proven", () => {
  test("from the store, by its tree or a run of it", async () => {
    for (const id of [project.tree, project.runs[0] ?? ""]) {
      const { code, out } = await errand("replay", id);
      expect(out).toMatch(
        new RegExp(
          `^tree ${project.tree} \\(orchestrator\\) from \\S+/store-1\\.db\n` +
            "(\\d+) rows, \\d+ events, 3 agents; \\1 decided again, in \\d.*\nproven\n$",
        ),
      );
      expect(code).toBe(0);
    }
  });

  test("from a file and from standard input, with the same counts as from the store", async () => {
    const file = written("good.jsonl", `${lines.join("\n")}\n`);
    const input = readFileSync(join(project.folder, file), "utf8");
    const counts = [];
    for (const run of [
      errand("replay", "--json", project.tree),
      errand("replay", "--json", file),
      runErrand(["replay", "--json", "-"], { ...project, input }),
    ]) {
      const { code, out } = await run;
      expect(code).toBe(0);
      const [record] = records(out);
      counts.push({ ...record, source: "", elapsedMs: 0 });
    }
    expect(counts[0]).toMatchObject({
      type: "replay",
      tree: project.tree,
      verdict: "proven",
      ok: true,
      difference: null,
    });
    expect(counts).toEqual([counts[0], counts[0], counts[0]]);
  });

  test("while another process owns the store and writes to it", async () => {
    const owner = startErrand(["run", "--json", "--model", "slow/60000", "the store"], { ...project, entry: SLOW });
    await owner.seen('"turn-started"');
    const [busy] = records((await errand("ps", "--json")).out);
    expect(busy).toMatchObject({ type: "tree", state: "busy" });
    for (const id of [project.tree, String(busy?.["id"])]) {
      expect(await errand("replay", id)).toMatchObject({ code: 0, out: expect.stringMatching(/\nproven\n$/) });
    }
    owner.kill("SIGINT");
    expect((await owner.finished).code).toBe(130);
  });
});

describe("an exported file", () => {
  test("is private, replaces an old file completely, and leaves no temporary file", async () => {
    written("out.jsonl", "an old one");
    const { code, out, err } = await errand("export", project.tree, "--out", "out.jsonl");
    expect({ code, out }).toEqual({ code: 0, out: "" });
    expect(err).toMatch(/^exported tree .+ to out\.jsonl: \d+ lines, \d+ bytes\n$/);
    const path = join(project.folder, "out.jsonl");
    expect(readFileSync(path, "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(project.folder).filter((name) => name.includes("tmp"))).toEqual([]);
    const [record] = records((await errand("export", "--json", project.tree, "--out", "out.jsonl")).out);
    expect(record).toEqual({
      type: "exported",
      tree: project.tree,
      file: "out.jsonl",
      lines: lines.length,
      bytes: statSync(path).size,
    });
  });

  test("that cannot be written is an error and leaves no partial file", async () => {
    for (const out of ["no/such/folder/x.jsonl", "a-folder"]) {
      const { code, err } = await errand("export", project.tree, "--out", out);
      expect(saidOf(err)).toMatchObject({ code: "file-unusable", lines: 2 });
      expect(code).toBe(1);
    }
    expect(readdirSync(join(project.folder, "a-folder")).filter((name) => name.includes("tmp"))).toEqual([]);
  });
});

describe("a damaged file is found, with its line: exit 1", () => {
  const row = (): number => lines.findIndex((line) => line.startsWith('{"seq":2,'));
  const flip = (index: number, at: number): string => {
    const line = lines[index] ?? "";
    const changed = line.slice(0, at) + String.fromCharCode(line.charCodeAt(at) ^ 1) + line.slice(at + 1);
    return `${lines.with(index, changed).join("\n")}\n`;
  };

  test("a flipped byte in a row", async () => {
    const { code, out } = await errand("replay", written("flip.jsonl", flip(row(), 60)));
    expect(out).toMatch(new RegExp(`^broken at row 2 \\(hash\\), line ${row() + 1} of flip\\.jsonl$`, "m"));
    expect(out).toMatch(/^ {2}hash of the chain\n {4}recorded {2}\S{43}\n {4}expected {2}\S{43}\n$/m);
    expect(code).toBe(1);
  });

  test("a flipped byte in the texts of a row", async () => {
    const line = lines[row()] ?? "";
    const { code, out } = await errand("replay", written("text.jsonl", flip(row(), line.indexOf("what opens") + 1)));
    expect(out).toMatch(new RegExp(`^broken at row 2 \\(body\\), line ${row() + 1} of text\\.jsonl$`, "m"));
    expect(code).toBe(1);
  });

  test("a flipped byte in a definition, and in the closing line", async () => {
    const blob = lines.findIndex((line) => line.startsWith('{"blob"'));
    for (const [index, at] of [
      [blob, 100],
      [lines.length - 1, 10],
    ] as const) {
      const { code, out } = await errand("replay", "--json", written("other.jsonl", flip(index, at)));
      expect(records(out)[0]).toMatchObject({ ok: false, difference: { row: null, line: index + 1, what: "file" } });
      expect(code).toBe(1);
    }
  });

  test("a changed or missing header: nothing is replayed", async () => {
    for (const content of [flip(0, 40), "no journal\n", "", Uint8Array.of(0xff, 0xfe, 10)]) {
      const { code, out, err } = await errand("replay", written("header.jsonl", content));
      expect(saidOf(err)).toMatchObject({ code: "file-damaged", lines: 2 });
      expect({ code, out }).toEqual({ code: 1, out: "" });
    }
  });

  test("a byte that is not UTF-8", async () => {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    bytes[bytes.indexOf("what opens")] = 0xff;
    const { code, out } = await errand("replay", written("bytes.jsonl", bytes));
    expect(out).toMatch(new RegExp(`^broken at line ${row() + 1}: `, "m"));
    expect(code).toBe(1);
  });

  test("a file that is cut off, between lines and within one", async () => {
    for (const [content, line] of [
      [`${lines.slice(0, -1).join("\n")}\n`, lines.length],
      [lines.join("\n").slice(0, -20), lines.length],
      [lines.join("\n").slice(0, lines.slice(0, 12).join("\n").length - 5), 12],
    ] as const) {
      const { code, out } = await errand("replay", written("cut.jsonl", content));
      expect(out).toMatch(new RegExp(`^broken at line ${line}: `, "m"));
      expect(code).toBe(1);
    }
  });
});

/** The file with one changed head and a repaired chain, as an attacker can make it. */
function forged(seq: number, change: (head: string) => string): string {
  let previous = "";
  const changed = lines.map((line) => {
    const value = JSON.parse(line) as { seq?: number; head: string; hash: string; end?: number };
    if (value.seq !== undefined) {
      if (value.seq === seq) value.head = change(value.head);
      value.hash = previous = sha256(previous + value.head);
    } else if (value.end !== undefined) {
      const rest = { end: value.end, hash: previous };
      return JSON.stringify({ ...rest, seal: sha256(JSON.stringify(rest)) });
    }
    return JSON.stringify(value);
  });
  return written("forged.jsonl", `${changed.join("\n")}\n`);
}

test("a recorded decision that differs from this version's is shown with its path and both values", async () => {
  const file = forged(3, (head) => head.replace('"mode":"background"', '"mode":"awaited"'));
  const { code, out } = await errand("replay", file);
  expect(out).toMatch(/^broken at row 3 \(decision\), line \d+ of forged\.jsonl$/m);
  expect(out).toContain('\n  events[0].mode\n    recorded  "awaited"\n    expected  "background"\n');
  expect(out.split("\n").every((line) => line.length < 120)).toBe(true);
  expect(code).toBe(1);
});

test("a row of another revision is intact and not decided again; text of the file is escaped for the terminal", async () => {
  const file = forged(3, (head) => head.replace(/"rev":"[^"]*"/, '"rev":"9\\u001b[2J.1"'));
  const { code, out } = await errand("replay", file);
  expect(out).toMatch(/^intact, decided by revision 9\.1, not re-decided$/m);
  expect(out).not.toContain("\u001b");
  expect(code).toBe(0);
});

describe("a damaged store is found, with its row: exit 1", () => {
  async function damaged(sql: string): Promise<Finished> {
    const path = join(project.folder, "damaged.db");
    // The owner has closed it, so that the database file is the whole store.
    cpSync(storeOf(project.folder), path);
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
    return errand("replay", "--store", "damaged.db", project.tree);
  }

  test.each([
    [
      "a changed head",
      `update journal set head = replace(head, '"kind":"user"', '"kind":"usex"') where seq = 2`,
      "row 2 (hash)",
    ],
    ["a head that is no JSON", "update journal set head = 'x' where seq = 3", "row 3 (hash)"],
    ["a changed text", "update journal set body = replace(body, 'opens', 'shuts') where seq = 2", "row 2 (body)"],
    ["a missing row", "delete from journal where seq = 4", "row 4 (numbering)"],
    ["a missing end", "delete from journal where seq > 20", "row 21 (numbering)"],
  ])("%s", async (_what, sql, where) => {
    const { code, out, err } = await damaged(sql);
    expect(out).toContain(`\nbroken at ${where}\n`);
    expect({ code, err }).toEqual({ code: 1, err: "" });
  });
});

test("a name that is neither a file nor an id is a usage error, and a folder cannot be read", async () => {
  const none = await errand("replay", "nowhere.jsonl");
  expect(saidOf(none.err)).toMatchObject({ code: "usage", lines: 2 });
  expect(none.code).toBe(2);
  const folder = await errand("replay", "a-folder");
  expect(saidOf(folder.err)).toMatchObject({ code: "file-unusable", lines: 2 });
  expect(folder.code).toBe(1);
});

test("a replay that takes longer than a second prints its progress", async () => {
  const file = join(project.folder, written("long.jsonl", `${lines.join("\n")}\n`));
  const { host, written: said } = createFakeHost();
  let now = 0;
  const world = { ...host.world, monotonic: () => (now += 200) };
  expect(await runProgram(["replay", file], { ...host, world })).toBe(0);
  expect(said.err).toMatch(/^proving: \d+ rows so far$/m);
  expect(await runProgram(["replay", "--json", file], { ...host, world })).toBe(0);
  expect(said.out).toMatch(/^\{"v":1,"type":"progress","rows":\d+\}$/m);
});
