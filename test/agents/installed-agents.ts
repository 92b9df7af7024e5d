/** Installs the coding agents that are tried with Errand. They are large, so they are no dependency of the project. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Exact versions, so that a result names what it was measured with. */
export const AGENT_PACKAGES = {
  claude: { title: "Claude Code", package: "@anthropic-ai/claude-code", version: "2.1.328", bin: "claude" },
  codex: { title: "Codex", package: "@openai/codex", version: "0.169.0", bin: "codex" },
  gemini: { title: "Gemini CLI", package: "@google/gemini-cli", version: "0.61.0", bin: "gemini" },
} as const;

export type AgentName = keyof typeof AGENT_PACKAGES;

interface Package {
  readonly package: string;
  readonly version: string;
}

/** The path of each agent's program. Installs what is missing into the folder, which may be kept for the next time. */
export function installAgents(folder: string, names: readonly AgentName[]): Readonly<Record<AgentName, string>> {
  installPackages(
    folder,
    names.map((name) => AGENT_PACKAGES[name]),
  );
  return { claude: program(folder, "claude"), codex: program(folder, "codex"), gemini: program(folder, "gemini") };
}

export function installPackages(folder: string, packages: readonly Package[]): void {
  mkdirSync(folder, { recursive: true });
  const manifest = join(folder, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n');
  const missing = packages.filter((one) => installedVersion(folder, one.package) !== one.version);
  if (missing.length === 0) return;
  const wanted = missing.map((one) => `${one.package}@${one.version}`);
  process.stderr.write(`Installing ${wanted.join(", ")} …\n`);
  const words = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", ...wanted];
  const npm = spawnSync("npm", words, { cwd: folder, encoding: "utf8" });
  if (npm.status !== 0) throw new Error(`npm could not install ${wanted.join(", ")}:\n${npm.stderr}`);
}

/** Claude Code ships its program in a package for each platform, which its install script would move. */
function program(folder: string, name: AgentName): string {
  if (name === "claude") {
    const platform = `${process.platform}-${process.arch}`;
    return join(folder, "node_modules", "@anthropic-ai", `claude-code-${platform}`, "claude");
  }
  return join(folder, "node_modules", ".bin", AGENT_PACKAGES[name].bin);
}

function installedVersion(folder: string, name: string): string | null {
  const file = join(folder, "node_modules", name, "package.json");
  if (!existsSync(file)) return null;
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
