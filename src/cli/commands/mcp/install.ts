/** `errand mcp install CLIENT`: prints what the client's configuration needs, or with `--write` adds it. */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { appendFile, chmod, mkdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import { ErrandError } from "../../../errors.ts";
import type { CommandCall } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { unusable } from "../../files/file-lines.ts";
import { invalidFile, readJsonFile, writeJsonFile } from "../../settings/json-file.ts";
import { didYouMean } from "../../text/did-you-mean.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { MCP_CLIENTS, type McpClient, type ServerCommand } from "./clients.ts";

export async function installServer(name: string | undefined, call: CommandCall): Promise<ExitCode> {
  const { options, host } = call;
  const client = clientNamed(name);
  const server = serverCommand(host.folder);
  const { from, path } = client.file(host.env);
  const base = from === "folder" ? host.folder : host.home;
  const file = resolve(base, path);
  const added =
    options.write === true && (await write(client, server, file, from === "folder" ? base : dirname(file), call));
  if (options.json === true) {
    host.out(jsonLine({ type: "mcp-client", client: client.title, file, added, text: snippet(client, server) }));
    return EXIT.done;
  }
  if (options.write !== true) {
    host.err(`${terminalLine(`${client.title} reads this from ${file}; --write adds it:`)}\n`);
    host.out(`${snippet(client, server)}\n`);
  } else {
    host.out(
      `${terminalLine(added ? `added errand to ${file}` : `${file} has errand already; nothing was changed`)}\n`,
    );
  }
  host.err(`${terminalLine(client.hint)}\n`);
  return EXIT.done;
}

function clientNamed(name: string | undefined): McpClient {
  const names = Object.keys(MCP_CLIENTS);
  const client = name === undefined || !Object.hasOwn(MCP_CLIENTS, name) ? undefined : MCP_CLIENTS[name];
  if (client !== undefined) return client;
  const what = name === undefined ? "errand mcp install needs a client" : `errand mcp install knows no "${name}"`;
  throw new ErrandError("usage", `${what}${name === undefined ? "" : didYouMean(name, names)}`, {
    remedy: `One of ${names.join(", ")}; for another client, add a server whose command is: errand mcp`,
  });
}

/** The errand of the folder if it has one, so that the file fits other machines too; else this one. */
function serverCommand(folder: string): ServerCommand {
  if (existsSync(join(folder, "node_modules", ".bin", "errand"))) return { command: "npx", args: ["errand", "mcp"] };
  return { command: process.execPath, args: [realpathSync(process.argv[1] ?? ""), "mcp"] };
}

function snippet({ entry }: McpClient, server: ServerCommand): string {
  if (entry.kind === "toml") return [entry.heading, ...entry.lines(server)].join("\n");
  return JSON.stringify({ [entry.field]: { errand: entry.value(server) } }, null, 2);
}

/** False if the file has the server already. All else in the file stays. */
async function write(
  { entry }: McpClient,
  server: ServerCommand,
  file: string,
  within: string,
  { host }: CommandCall,
): Promise<boolean> {
  if (entry.kind === "toml") {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    if (text.split("\n").some((line) => entry.known.test(line))) return false;
    const before = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
    try {
      await mkdir(dirname(file), { recursive: true });
      await appendFile(file, `${before}${[entry.heading, ...entry.lines(server)].join("\n")}\n`);
    } catch (cause) {
      throw unusable(file, "written", cause);
    }
    return true;
  }
  const known = (await readJsonFile(file, within)) ?? {};
  const folder = await realpath(dirname(file)).catch(() => null);
  if (folder !== null && isOutside(await realpath(within), folder))
    throw invalidFile(file, "its folder is a symlink that leads out of the project");
  const servers = known[entry.field] ?? {};
  if (!jsonObjectIs(servers)) throw invalidFile(file, `its field ${entry.field} is no object`);
  if (Object.hasOwn(servers, "errand")) return false;
  const mode = (await stat(file).catch(() => null))?.mode ?? 0o644;
  const value = { ...servers, errand: entry.value(server) as Json };
  await writeJsonFile(file, { ...known, [entry.field]: value }, host.world);
  await chmod(file, mode & 0o777);
  return true;
}

function isOutside(folder: string, path: string): boolean {
  return relative(folder, path).split(sep)[0] === "..";
}
