/**
 * A store that this user's Errand did not create can be read, and nothing in it runs: attacks through the real command
 * line.
 */

import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import {
  type Finished,
  records,
  runErrand,
  SLOW,
  startErrand,
  terminalAvailable,
} from "../cli/support/errand-process.ts";
import { saidOf } from "../cli/support/worked-project.ts";
import { errand, harmComes, hostileFolder, SHIPPED } from "./support/hostile-store.ts";

vi.setConfig({ testTimeout: 120_000 });

/** Every file below a folder with its content. */
function contentsOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, readFileSync(path, "base64")];
    }),
  );
}

describe("a folder that ships a store where the command line once kept its own", () => {
  test.each([
    { what: "run", args: ["run", "what is this?"] },
    { what: "run --agent researcher", args: ["run", "--agent", "researcher", "what is this?"] },
    { what: "chat", args: ["chat"], input: "what is this?\n" },
  ])("$what runs nothing of it, and names it once", async ({ args, input }) => {
    const site = await hostileFolder();
    const before = contentsOf(site.folder);
    const first = await errand(site, args, input);
    expect(await harmComes(site)).toBe(false);
    expect(first.code, first.err).toBe(0);
    expect(first.err).toContain(`errand trust --store ${SHIPPED}`);
    const second = await errand(site, args, input);
    expect(second.err).not.toContain("errand trust --store");
    expect(contentsOf(site.folder)).toEqual(before);
  });

  test("a command in the background runs nothing in it either", async () => {
    const site = await hostileFolder();
    expect((await errand(site, ["run", "--detach", "what is this?"])).code).toBe(0);
    expect(await harmComes(site)).toBe(false);
  });
});

describe("a store given by path", () => {
  const named = ["--store", SHIPPED];

  test.each([
    { what: "run", args: ["run", "x", ...named] },
    { what: "chat", args: ["chat", ...named], input: "x\n" },
    { what: "chat with its tree", args: ["chat", "TREE", ...named], input: "x\n" },
    { what: "resume", args: ["resume", ...named] },
    { what: "fork", args: ["fork", "TREE", "--at", "1", "x", ...named] },
    { what: "send", args: ["send", "TREE", "x", ...named] },
    { what: "cancel", args: ["cancel", "TREE", ...named] },
    { what: "answer", args: ["answer", "TREE", "yes", ...named] },
    { what: "run --detach", args: ["run", "--detach", "x", ...named] },
    { what: "migrate", args: ["migrate", "--from", SHIPPED, "--to", "postgres://u@127.0.0.1:1/none"] },
  ])("$what is refused with what to do, runs nothing and changes nothing", async ({ args, input }) => {
    const site = await hostileFolder();
    const before = contentsOf(join(site.folder, ".errand"));
    const { code, err } = await errand(
      site,
      args.map((word) => (word === "TREE" ? site.tree : word)),
      input,
    );
    expect(await harmComes(site)).toBe(false);
    expect(saidOf(err)).toMatchObject({ code: "store-not-trusted", lines: 2 });
    expect(err).toContain("errand trust --store");
    expect(code).toBe(1);
    expect(contentsOf(join(site.folder, ".errand"))).toEqual(before);
  });

  test("the library refuses it too", async () => {
    const { folder, home, data, harmed } = await hostileFolder();
    const main = new URL("../../src/index.ts", import.meta.url).href;
    const program = join(folder, "program.mjs");
    writeFileSync(
      program,
      `import { createErrand } from ${JSON.stringify(main)};
       await createErrand({ store: ${JSON.stringify(SHIPPED)} }).catch((error) => console.log(error.code));
       await createErrand({}).catch((error) => console.log(error.code));`,
    );
    const { out } = await runErrand([], { folder, home, entry: program, env: { XDG_DATA_HOME: data } });
    expect(out).toBe("store-not-trusted\nusage\n");
    expect(harmed()).toBe(false);
  });

  test("ps, show, logs, result, answer, replay, export and doctor read it, and do not change its folder", async () => {
    const site = await hostileFolder();
    const { tree } = site;
    const before = contentsOf(site.folder);
    const said = async (...args: string[]): Promise<Finished> => errand(site, [...args, ...named]);
    expect(await said("ps", "--all")).toMatchObject({ code: 0, out: expect.stringContaining(tree.slice(-6)) });
    expect((await said("ps")).err).toContain("not trusted");
    expect(await said("show", tree)).toMatchObject({ code: 0, out: expect.stringContaining(`tree ${tree}`) });
    expect(await said("logs", tree)).toMatchObject({ code: 0, out: expect.stringContaining("question-asked") });
    expect(await said("answer")).toMatchObject({ code: 0, out: expect.stringContaining("run_command") });
    expect(await said("replay", tree)).toMatchObject({ code: 0, out: expect.stringContaining("proven") });
    expect((await said("export", tree)).out.split("\n").length).toBeGreaterThan(3);
    expect(records((await said("completion", "trees", "--json")).out)).toMatchObject([
      { id: tree, short: "last" },
      { id: tree, short: tree.slice(-6) },
    ]);
    const check = records((await said("doctor", "--json")).out).find(({ name }) => name === "store");
    expect(check).toMatchObject({ level: "warning", text: expect.stringContaining("does not run") });
    expect(contentsOf(site.folder)).toEqual(before);
    expect(site.harmed()).toBe(false);
  });
});

describe("errand trust --store", () => {
  test("shows trees, open questions and waiting mail; from then on the store runs", async () => {
    const site = await hostileFolder();
    const { tree } = site;
    const trusted = await errand(site, ["trust", "--store", SHIPPED]);
    expect(trusted).toMatchObject({ code: 0, err: "" });
    expect(trusted.out).toContain("1 tree");
    expect(trusted.out).toMatch(new RegExp(`asks for permission: 1\\n {2}${tree} .*run_command`));
    expect(trusted.out).toMatch(new RegExp(`in its mail: 1\\n {2}${tree} the answer yes to question`));
    expect(site.harmed()).toBe(false);
    await errand(site, ["run", "--store", SHIPPED, "--allow", "run_command", "hello"]);
    expect(await harmComes(site)).toBe(true);
    expect(records((await errand(site, ["stores", "--json"])).out)).toMatchObject([
      { type: "store", trusted: true, trees: 2, project: null },
    ]);
    expect((await errand(site, ["trust", "--revoke", "--store", SHIPPED])).out).toContain("no longer trusted");
    expect(saidOf((await errand(site, ["resume", "--store", SHIPPED])).err).code).toBe("store-not-trusted");
  });

  test("prints it as JSON, and says when there is nothing to trust", async () => {
    const site = await hostileFolder();
    const [line] = records((await errand(site, ["trust", "--json", "--store", SHIPPED])).out);
    expect(line).toMatchObject({ type: "trusted-store", trees: 1, mail: [{ tree: site.tree }], questions: [{}] });
    expect((await errand(site, ["trust", "--store", SHIPPED])).out).toContain("already trusted");
    expect(saidOf((await errand(site, ["trust", "--store", "README.md"])).err).code).toBe("store-unreadable");
    expect(saidOf((await errand(site, ["trust", "--store", "none.db"])).err).code).toBe("store-unreadable");
    expect(saidOf((await errand(site, ["trust", "--store", "postgres://u@h/d"])).err).code).toBe("usage");
  });

  test.runIf(terminalAvailable)("in a terminal it asks, and n leaves the store untrusted", async () => {
    const site = await hostileFolder();
    const { folder, home, data } = site;
    const terminal = { columns: 100, rows: 30 };
    const asked = startErrand(["trust", "--store", SHIPPED], { folder, home, env: { XDG_DATA_HOME: data }, terminal });
    await asked.seen("May it run from now on?");
    asked.type("n");
    expect((await asked.finished).code).toBe(1);
    expect(saidOf((await errand(site, ["resume", "--store", SHIPPED])).err).code).toBe("store-not-trusted");
  });

  test("ERRAND_TRUST_STORE names a store by its id, and no other", async () => {
    const site = await hostileFolder();
    const db = new DatabaseSync(join(site.folder, SHIPPED), { readOnly: true });
    const id = String(db.prepare("select value from meta where name = 'id'").get()?.["value"]);
    db.close();
    const resume = (trusted: string): Promise<Finished> =>
      errand(site, ["run", "--store", SHIPPED, "hello"], "", { ERRAND_TRUST_STORE: trusted });
    expect(saidOf((await resume("019a0000-0000-7000-8000-000000000000")).err).code).toBe("store-not-trusted");
    expect((await resume(id)).code).toBe(0);
    expect(await harmComes(site)).toBe(true);
  });
});

describe("ordinary use", () => {
  test("two commands work in one folder at the same time, and one list shows both", async () => {
    const site = await hostileFolder("elsewhere.db");
    const { folder, home, data } = site;
    const how = { folder, home, entry: SLOW, env: { XDG_DATA_HOME: data } };
    const first = startErrand(["run", "--json", "--model", "slow/60000", "x"], how);
    await first.seen('"turn-started"');
    const second = await runErrand(["run", "--json", "--model", "slow/1", "the store"], how);
    expect(second.code, second.err).toBe(0);
    const [one, two] = [String(records(first.shown())[0]?.["tree"]), String(records(second.out)[0]?.["tree"])];
    const listed = records((await runErrand(["ps", "--all", "--json"], how)).out);
    expect(listed.map(({ id }) => id)).toEqual([two, one]);
    expect(listed.map(({ owner }) => owner)).toEqual([null, expect.stringContaining(`pid ${first.pid} on`)]);
    expect((await runErrand(["show", two], how)).code).toBe(0);
    expect((await runErrand(["send", one, "more"], how)).out).toContain("taken by the owner");
    expect((await runErrand(["send", two, "more"], how)).out).toContain("kept in the store");
    expect((await runErrand(["resume", two], how)).code).toBe(0);
    first.kill("SIGKILL");
    await first.finished;
    expect(records((await runErrand(["ps", "--json"], how)).out).map(({ id }) => id)).toEqual([one]);
    const stores = records((await runErrand(["stores", "--json"], how)).out);
    expect(stores.map(({ projectThere, trees, trusted }) => ({ projectThere, trees, trusted }))).toEqual([
      { projectThere: true, trees: 1, trusted: true },
      { projectThere: true, trees: 1, trusted: true },
    ]);
    for (const { path } of stores) expect(statSync(String(path)).mode & 0o777).toBe(0o600);
    for (const part of ["errand", "errand/stores", "errand/register"])
      expect(statSync(join(data, part)).mode & 0o777).toBe(0o700);
  });

  test("stores of a deleted folder are listed, and can be read by their path", async () => {
    const site = await hostileFolder("elsewhere.db");
    const gone = join(site.home, "gone");
    mkdirSync(gone);
    const env = { XDG_DATA_HOME: site.data };
    expect((await runErrand(["run", "hello"], { folder: gone, home: site.home, env })).code).toBe(0);
    rmdirSync(gone);
    const [store] = records((await errand(site, ["stores", "--json"])).out);
    expect(store).toMatchObject({ project: gone, projectThere: false, there: true, trees: 1, trusted: true });
    expect((await errand(site, ["stores"])).out).toContain("(moved or gone)");
    expect(
      records((await errand(site, ["ps", "--all", "--json", "--store", String(store?.["path"])])).out),
    ).toHaveLength(1);
  });

  test("the user's own store needs no trust after a crash, after mail, or after a reader was killed", async () => {
    const site = await hostileFolder("elsewhere.db");
    const { folder, home, data } = site;
    const how = { folder, home, entry: SLOW, env: { XDG_DATA_HOME: data } };
    const own = ["--store", "own.db"];
    const first = startErrand(["run", "--json", "--model", "slow/60000", "x", ...own], how);
    await first.seen('"turn-started"');
    first.kill("SIGKILL");
    const tree = String(records((await first.finished).out)[0]?.["tree"]);
    expect((await runErrand(["cancel", tree, ...own], how)).code).toBe(0);
    const reader = startErrand(["logs", "-f", tree, ...own], how);
    await reader.seen("cancel-asked");
    expect((await runErrand(["run", "--model", "slow/1", "the store", ...own], how)).code).toBe(0);
    reader.kill("SIGKILL");
    await reader.finished;
    expect((await runErrand(["send", tree, "more", ...own], how)).code).toBe(0);
    expect((await runErrand(["run", "--model", "slow/1", "the store", ...own], how)).code).toBe(0);
  });
});
