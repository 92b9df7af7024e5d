/** Owns the question what a project says of itself: its manifest and the beginning of its README. */

import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import type { Action, Evidence } from "../evidence.ts";
import { LIST_ALL, type Listing, listingOf } from "../listing.ts";
import { readJson } from "../read-json.ts";
import { count, fileLines, firstSentence, shorten } from "../wording.ts";
import type { Inquiry } from "./inquiry.ts";

const MANIFESTS = [
  "package.json",
  "pyproject.toml",
  "Cargo.toml",
  "go.mod",
  "composer.json",
  "pom.xml",
  "build.gradle",
  "Gemfile",
];
const SHOWN = 8;

export function createDescribeInquiry(): Inquiry {
  return {
    actions(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [LIST_ALL];
      return [
        LIST_ALL,
        ...[manifestOf(listing), readmeOf(listing)].flatMap((path) => (path === null ? [] : [readAction(path)])),
      ];
    },
    findings(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [];
      const manifest = manifestOf(listing);
      const readme = readmeOf(listing);
      const lines = [
        ...(manifest === null ? [] : manifestFindings(manifest, evidence.output(readAction(manifest)) ?? "")),
        ...(readme === null ? [] : readmeFindings(readme, evidence.output(readAction(readme)) ?? "")),
      ];
      return lines.length > 0 ? lines : ["- there is neither a manifest nor a README that says what this is"];
    },
  };
}

/** The project's scripts by name, from package.json. */
export function scriptsOf(evidence: Evidence): ReadonlyMap<string, string> {
  const manifest = jsonFile(evidence.output(readAction("package.json")) ?? "");
  const scripts = jsonObjectIs(manifest) ? manifest["scripts"] : undefined;
  if (!jsonObjectIs(scripts)) return new Map();
  return new Map(
    Object.entries(scripts).flatMap(([name, command]) =>
      typeof command === "string" ? [[name, command] as const] : [],
    ),
  );
}

export function readAction(path: string): Action {
  return { name: "read_file", input: { path, limit: 300 } };
}

function manifestOf(listing: Listing): string | null {
  return MANIFESTS.find((name) => listing.paths.includes(name)) ?? null;
}

function readmeOf(listing: Listing): string | null {
  return listing.paths.find((path) => /^readme(\.(md|mdx|rst|txt|adoc))?$/i.test(path)) ?? null;
}

function manifestFindings(path: string, output: string): readonly string[] {
  const manifest = path.endsWith(".json") ? jsonFile(output) : null;
  if (!jsonObjectIs(manifest)) return textManifestFindings(path, fileLines(output));
  const text = (key: string): string => (typeof manifest[key] === "string" ? manifest[key] : "");
  const names = (key: string): readonly string[] => (jsonObjectIs(manifest[key]) ? Object.keys(manifest[key]) : []);
  const title = [text("name"), text("version")].filter((word) => word !== "").join(" ");
  const lines = [
    `- ${title || path}${text("description") === "" ? "" : `: ${shorten(text("description"), 200)}`} (${path})`,
  ];
  const dependencies = names("dependencies");
  if (dependencies.length > 0) lines.push(`- builds on ${list(dependencies)}`);
  const scripts = names("scripts");
  if (scripts.length > 0) lines.push(`- has the scripts ${list(scripts)}`);
  const commands = names("bin");
  if (commands.length > 0) lines.push(`- installs the commands ${list(commands)}`);
  return lines;
}

/** TOML and the like: the first name, version and description there are. */
function textManifestFindings(path: string, lines: readonly string[]): readonly string[] {
  const value = (key: string): string => {
    const found = lines
      .map((line) => new RegExp(`^\\s*${key}\\s*=?\\s*["']?([^"']+)["']?`).exec(line)?.[1])
      .find((text) => text !== undefined);
    return found?.trim() ?? "";
  };
  const title = [value("name") || value("module"), value("version")].filter((word) => word !== "").join(" ");
  const description = value("description");
  return [`- ${title || path}${description === "" ? "" : `: ${shorten(description, 200)}`} (${path})`];
}

function readmeFindings(path: string, output: string): readonly string[] {
  const text = fileLines(output).filter((line) => !/^\s*(<|\[!|!\[|\[?!?\[.*\]\(.*\)\s*$|---|===)/.test(line));
  const headings = text.flatMap((line) => /^#{1,3}\s+(.+)$/.exec(line)?.[1]?.trim() ?? []);
  const start = text.findIndex((line) => line.trim() !== "" && !line.startsWith("#"));
  const end = text.findIndex((line, index) => index > start && (line.trim() === "" || line.startsWith("#")));
  const paragraph = start < 0 ? "" : text.slice(start, end < 0 ? undefined : end).join(" ");
  const plain = paragraph.replace(/[*_`>]+/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const lines: string[] = [];
  if (plain.trim() !== "") lines.push(`- ${path}: ${shorten(plain.length > 300 ? firstSentence(plain) : plain, 300)}`);
  const sections = headings.slice(1);
  if (sections.length > 0) lines.push(`- ${path} goes on with: ${list(sections)}`);
  return lines;
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map((name) => shorten(name, 60));
  return names.length > SHOWN ? `${shown.join(", ")} and ${count(names.length - SHOWN, "other")}` : shown.join(", ");
}

function jsonFile(output: string): Json {
  return readJson(fileLines(output).join("\n"));
}
