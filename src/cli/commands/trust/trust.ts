/**
 * `errand trust [FOLDER]`, `--list`, `--revoke`. With `--json` a line is `{ type: "trusted" | "revoked", folder, items
 * }`, an item `{ name, hash, for }`; in a list without `for`. With `--store PATH` it is about a store
 * (`../trust/store-trust.ts`).
 */

import { stat } from "node:fs/promises";
import { ErrandError } from "../../../errors.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { trustItemsOf } from "../../definitions/folder-definitions.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { settingItemsOf } from "../../settings/settings.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { storeTrust } from "../trust/store-trust.ts";
import { readTrust, type TrustItem, writeTrust, realFolder } from "../../settings/trust-file.ts";

export const trustCommand: CommandAction = async (call) => {
  const { args, options, host } = call;
  if (options.list === true && options.revoke === true)
    throw new ErrandError("usage", "--list and --revoke do not go together", { remedy: "See errand trust --help" });
  if (options.list === true) return list(call);
  if (options.store !== undefined) return storeTrust(options.store, call);
  const folder = realFolder(args[0] ?? host.folder);
  return options.revoke === true ? revoke(folder, call) : trust(folder, call);
};

async function trust(folder: string, { options, host }: CommandCall): Promise<ExitCode> {
  await requireFolder(folder);
  const items = [...(await trustItemsOf(folder)), ...(await settingItemsOf({ ...host, folder }))];
  const held = new Map(await readTrust(host));
  if (items.length > 0 || held.delete(folder)) {
    if (items.length > 0) held.set(folder, new Map(items.map(({ name, hash }) => [name, hash])));
    await writeTrust(held, host);
  }
  if (options.json === true) host.out(jsonLine({ type: "trusted", folder, items }));
  else host.out(trustedText(folder, items));
  return EXIT.done;
}

async function list({ options, host }: CommandCall): Promise<ExitCode> {
  const held = await readTrust(host);
  if (held.size === 0 && options.json !== true) host.err("no folder is trusted\n");
  for (const [folder, hashes] of held) {
    const items = [...hashes].map(([name, hash]) => ({ name, hash }));
    if (options.json === true) host.out(jsonLine({ type: "trusted", folder, items }));
    else host.out([folder, ...items.map(({ name }) => `  ${name}`)].map(lineOf).join(""));
  }
  return EXIT.done;
}

async function revoke(folder: string, { options, host }: CommandCall): Promise<ExitCode> {
  const held = new Map(await readTrust(host));
  const items = [...(held.get(folder) ?? [])].map(([name, hash]) => ({ name, hash }));
  if (held.delete(folder)) await writeTrust(held, host);
  if (options.json === true) host.out(jsonLine({ type: "revoked", folder, items }));
  else host.out(lineOf(items.length === 0 ? `nothing of ${folder} was trusted` : `no longer trusted: ${folder}`));
  return EXIT.done;
}

function trustedText(folder: string, items: readonly TrustItem[]): string {
  if (items.length === 0) return lineOf(`nothing in ${folder} asks for trust`);
  const lines = items.map((item) => `  ${item.name}: ${item.for.join(", ")}`);
  return [`trusted as it is now: ${folder}`, ...lines].map(lineOf).join("");
}

function lineOf(text: string): string {
  return `${text.startsWith("  ") ? "  " : ""}${terminalLine(text)}\n`;
}

async function requireFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch(() => null);
  if (stats?.isDirectory() === true) return;
  throw new ErrandError("usage", `${folder} is no folder`, { remedy: "Name a folder: errand trust FOLDER" });
}
