/** What a project says of itself: its manifest and the beginning of its README. */

import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import type { Action, Evidence, Inquiry } from "../conversation.ts";
import { fileLines, type Listing } from "../tool-outputs.ts";
import { firstSentence, listed, readJson, shorten } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";

const MANIFESTS = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod", "composer.json", "pom.xml", "Gemfile"];
const NAMES_SHOWN = 8;

export function describeInquiry({ paths }: Listing, evidence: Evidence): Inquiry {
  const manifest = MANIFESTS.find((name) => paths.includes(name));
  const readme = paths.find((path) => /^readme(\.(md|mdx|rst|txt|adoc))?$/i.test(path));
  const linesOf = (path: string): readonly string[] => fileLines(evidence.output(readAction(path)) ?? "");
  return {
    actions: [manifest, readme].flatMap((path) => (path === undefined ? [] : [readAction(path)])),
    findings() {
      const lines = [
        ...(manifest === undefined ? [] : manifestFindings(manifest, linesOf(manifest).join("\n"))),
        ...(readme === undefined ? [] : readmeFindings(readme, linesOf(readme))),
      ];
      return lines.length > 0 ? lines : ["- there is neither a manifest nor a README that says what this is"];
    },
  };
}

export function readAction(path: string): Action {
  return { name: "read_file", input: { path, limit: 300 } };
}

/** The scripts in package.json, by name. */
export function scriptsOf(evidence: Evidence): readonly (readonly [string, string])[] {
  const manifest = readJson(fileLines(evidence.output(readAction("package.json")) ?? "").join("\n"));
  const scripts = jsonObjectIs(manifest) && jsonObjectIs(manifest["scripts"]) ? manifest["scripts"] : {};
  return Object.entries(scripts).flatMap(([name, command]) =>
    typeof command === "string" ? [[name, command] as const] : [],
  );
}

function manifestFindings(path: string, text: string): readonly string[] {
  const json = readJson(text);
  const fields: { readonly [key: string]: Json } = jsonObjectIs(json) ? json : {};
  // In formats other than JSON, the first line that begins with the key counts.
  const value = (key: string): string => {
    const found = fields[key] ?? new RegExp(`^\\s*${key}\\s*=?\\s*["']?([^"'\\n]+)`, "m").exec(text)?.[1];
    return typeof found === "string" ? found.trim() : "";
  };
  const title = [value("name") || value("module"), value("version")].filter((word) => word !== "").join(" ");
  const description = value("description");
  const lines = [`- ${title || path}${description === "" ? "" : `: ${shorten(description, 200)}`} (${path})`];
  const sections = [
    ["dependencies", "builds on"],
    ["scripts", "has the scripts"],
    ["bin", "installs the commands"],
  ] as const;
  for (const [key, words] of sections) {
    const names = jsonObjectIs(fields[key]) ? Object.keys(fields[key]) : [];
    if (names.length > 0) lines.push(`- ${words} ${namesShown(names)}`);
  }
  return lines;
}

function readmeFindings(path: string, lines: readonly string[]): readonly string[] {
  const text = lines.filter((line) => !/^\s*(<|\[!|!\[|\[?!?\[.*\]\(.*\)\s*$|---|===)/.test(line));
  const sections = text.flatMap((line) => /^#{1,3}\s+(.+)$/.exec(line)?.[1]?.trim() ?? []).slice(1);
  const start = text.findIndex((line) => line.trim() !== "" && !line.startsWith("#"));
  const end = text.findIndex((line, index) => index > start && (line.trim() === "" || line.startsWith("#")));
  const paragraph = start < 0 ? "" : text.slice(start, end < 0 ? undefined : end).join(" ");
  const plain = paragraph.replace(/[*_`>]+/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const short = shorten(plain.length > 300 ? firstSentence(plain) : plain, 300);
  return [
    ...(short === "" ? [] : [`- ${path}: ${short}`]),
    ...(sections.length === 0 ? [] : [`- ${path} goes on with: ${namesShown(sections)}`]),
  ];
}

function namesShown(names: readonly string[]): string {
  const short = names.map((name) => shorten(name, 60));
  return listed(short, NAMES_SHOWN, ` and ${countLabel(names.length - NAMES_SHOWN, "other")}`);
}
