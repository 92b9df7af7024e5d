/** `errand mcp install`: what it prints for each client, and what `--write` does to a file that is there. */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { createFakeHost } from "../cli/support/fake-host.ts";

interface Site {
  readonly root: string;
  readonly folder: string;
  readonly home: string;
  install(...args: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
}

function site(env: Readonly<Record<string, string>> = {}): Site {
  const root = mkdtempSync(join(tmpdir(), "errand-install-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [folder, home] = [join(root, "project"), join(root, "home")];
  for (const path of [folder, home]) mkdirSync(path);
  return {
    root,
    folder,
    home,
    async install(...args) {
      const { host, written } = createFakeHost();
      const code = await runProgram(["mcp", "install", ...args], { ...host, folder, home, env });
      return { code, ...written };
    },
  };
}

const COMMAND = { command: process.execPath, args: expect.arrayContaining(["mcp"]) as string[] };
const LONG = { timeout: 3_600_000 };

const CLIENTS = [
  { name: "claude", file: "project/.mcp.json", field: "mcpServers", entry: { ...COMMAND, ...LONG } },
  { name: "gemini", file: "project/.gemini/settings.json", field: "mcpServers", entry: { ...COMMAND, ...LONG } },
  { name: "cursor", file: "project/.cursor/mcp.json", field: "mcpServers", entry: COMMAND },
  { name: "vscode", file: "project/.vscode/mcp.json", field: "servers", entry: { type: "stdio", ...COMMAND } },
];

const parsed = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

it.each(CLIENTS)(
  "prints and adds the entry for $name, and keeps what is there",
  async ({ name, file, field, entry }) => {
    const { root, install } = site();
    const path = join(root, file);
    const printed = await install(name);
    expect(printed.code).toBe(0);
    expect(JSON.parse(printed.out)).toEqual({ [field]: { errand: entry } });
    expect(existsSync(path)).toBe(false);

    expect(await install(name, "--write")).toMatchObject({ code: 0, out: `added errand to ${path}\n` });
    expect(parsed(path)).toEqual({ [field]: { errand: entry } });

    const other = { theme: "dark", [field]: { files: { command: "files" } } };
    writeFileSync(path, JSON.stringify(other));
    chmodSync(path, 0o640);
    await install(name, "--write");
    expect(parsed(path)).toEqual({ theme: "dark", [field]: { files: { command: "files" }, errand: entry } });
    expect(statSync(path).mode & 0o777).toBe(0o640);

    const mine = JSON.stringify({ [field]: { errand: { command: "mine" } } });
    writeFileSync(path, mine);
    const twice = await install(name, "--write", "--json");
    expect(JSON.parse(twice.out)).toMatchObject({ type: "mcp-client", file: path, added: false });
    expect(readFileSync(path, "utf8")).toBe(mine);
  },
);

it.each([{ field: "mcpServers", value: '{ "mcpServers": [] }' }, { value: "{ mcpServers: " }, { value: "[]" }])(
  "refuses to change a file that holds $value",
  async ({ value }) => {
    const { folder, install } = site();
    writeFileSync(join(folder, ".mcp.json"), value);
    const { code, err } = await install("claude", "--write");
    expect(code).toBe(1);
    expect(err).toContain("(config-invalid)");
    expect(err.trimEnd().split("\n")).toHaveLength(2);
    expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(value);
  },
);

it("adds a table to Codex's file once, after what is there", async () => {
  const { root, home, install } = site();
  const path = join(home, ".codex", "config.toml");
  const printed = await install("codex");
  expect(printed.out).toMatch(
    /^\[mcp_servers\.errand\]\ncommand = ".+"\nargs = \[.+"mcp"\]\ntool_timeout_sec = 3600\n$/,
  );
  expect(existsSync(path)).toBe(false);
  mkdirSync(dirname(path));
  writeFileSync(path, 'model = "mine"');
  await install("codex", "--write");
  expect(readFileSync(path, "utf8")).toBe(`model = "mine"\n\n${printed.out}`);
  expect((await install("codex", "--write")).out).toContain("has errand already");
  expect(readFileSync(path, "utf8")).toBe(`model = "mine"\n\n${printed.out}`);
  for (const heading of ["[mcp_servers.errand] # mine", '[mcp_servers."errand"]', "[ mcp_servers . errand . env ]"]) {
    writeFileSync(path, `${heading}\n`);
    expect((await install("codex", "--write")).out, heading).toContain("has errand already");
  }
  const elsewhere = site({ CODEX_HOME: join(root, "codex-home") });
  await elsewhere.install("codex", "--write");
  expect(readFileSync(join(root, "codex-home", "config.toml"), "utf8")).toBe(printed.out);
});

it("writes nothing through a symlink that leads out of the folder", async () => {
  const { root, folder, install } = site();
  const outside = join(root, "outside");
  mkdirSync(outside);
  symlinkSync(outside, join(folder, ".gemini"));
  symlinkSync(outside, join(folder, ".cursor"));
  writeFileSync(join(outside, "settings.json"), "{}");
  writeFileSync(join(outside, "file.json"), "{}");
  symlinkSync(join(outside, "file.json"), join(folder, ".mcp.json"));
  for (const client of ["gemini", "claude", "cursor"]) {
    const { code, err } = await install(client, "--write");
    expect({ client, code, lines: err.trimEnd().split("\n").length }).toEqual({ client, code: 1, lines: 2 });
  }
  expect(existsSync(join(outside, "mcp.json"))).toBe(false);
  for (const name of ["settings.json", "file.json"]) expect(readFileSync(join(outside, name), "utf8")).toBe("{}");
});

it("uses the errand of the folder, and refuses clients that it does not know", async () => {
  const { folder, install } = site();
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true });
  writeFileSync(join(folder, "node_modules", ".bin", "errand"), "");
  expect(JSON.parse((await install("cursor")).out)).toEqual({
    mcpServers: { errand: { command: "npx", args: ["errand", "mcp"] } },
  });
  const unknown = await install("cluade");
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("claude");
  expect((await install()).code).toBe(2);
});
