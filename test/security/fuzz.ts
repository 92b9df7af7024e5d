/**
 * `npm run fuzz`: hostile text from a seed, through all code that reads or shows text of others. No check may throw, take
 * more than MAX_MS of processor time, or break its invariant. Exits with 1 on a finding.
 */

import { terminalText } from "../../src/cli/text/terminal-text.ts";
import { lineDiff } from "../../src/cli/questions/line-diff.ts";
import type { Json } from "../../src/core/values/json.ts";
import { permissionOf } from "../../src/core/permissions/permissions.ts";
import { jsonText } from "../../src/core/text/json-text.ts";
import { frameBuild, frameParse, quoted } from "../../src/core/text/frame.ts";
import { messageSaid, REDACTED, salvageText, tagExtract, tagExtractAll, tagStrip } from "../../src/core/text/index.ts";
import { readFrontmatter } from "../../src/definitions/frontmatter.ts";
import { readToml } from "../../src/definitions/toml.ts";
import { createRedactor } from "../../src/runtime/redaction/redactor.ts";
import { checkSchema } from "../../src/runtime/schemas/check-schema.ts";
import { dataFault } from "../../src/runtime/schemas/data-fault.ts";
import { createRandom, type Random } from "../simulation/random.ts";
import { commandOptions } from "../support/command-options.ts";
import { unsafeIn } from "./hostile-text.ts";

const { seed, runs } = commandOptions(
  {
    name: "npm run fuzz --",
    does: "Sends hostile text through parsers, frames, rules, schemas and the output filter.",
    examples: ["--runs 100000", "--seed 42 --runs 1"],
  },
  {
    seed: { kind: "count", help: "The first seed.", default: 1 },
    runs: { kind: "count", help: "How many texts.", default: 20_000 },
  },
);

/** For a text of at most 64 KiB, which is what files of a folder may have. */
const MAX_MS = 50;
const PIECES = [
  ..."<>/\\\"'{}[]()=:;,.*?!#$&%|-_`~ \t\n\r\u0000\u0007\u001b\u009b\u200b\u200d\u202e\u2066\u0301\u20e3\uff1c\ud800",
  "findings",
  "system_message",
  "message_for_user",
  "response",
  "say",
  "thinking",
  "tool_call",
  "FINDINGS",
  "</",
  "<!--",
  "&lt;",
  "&#60;",
  "\\u003c",
  "%3c",
  "\u001b]0;x\u0007",
  "\u001b[2J",
  "---\n",
  "- ",
  "key: ",
  "[[",
  "]]",
  '"""',
  "**/",
  "{a,",
  "!(",
  "$ref",
  "$async",
  "pattern",
  "__proto__",
  'origin="',
  "NO_REPLY",
  "[redacted",
  "0x",
  "1e999",
  "nested",
  "a",
] as const;
const SECRET = "sk-fuzz-0123456789";

function textOf(random: Random): string {
  const size = random.pick([1, 10, 100, 1_000, 8_000]);
  const own = random.percent(30) ? Array.from({ length: 3 }, () => PIECES[random.below(PIECES.length)] ?? "") : PIECES;
  let text = "";
  for (let made = 0; made < size; made += 1) text += own[random.below(own.length)] ?? "";
  return random.percent(10) ? text + SECRET + text : text;
}

function jsonOf(random: Random, depth = 0): Json {
  const names = [
    "type",
    "properties",
    "items",
    "anyOf",
    "$ref",
    "pattern",
    "required",
    "enum",
    "const",
    "minLength",
    "x",
  ];
  switch (random.below(depth > 5 ? 4 : 6)) {
    case 0:
      return random.pick([null, true, 7, "string", "object", "array", "#/x"]);
    case 1:
      return textOf(random).slice(0, 40);
    case 2:
      return random.below(1_000) - 500;
    case 3:
      return [];
    case 4:
      return Array.from({ length: random.below(4) }, () => jsonOf(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(5) }, () => [
          names[random.below(names.length)] ?? "x",
          jsonOf(random, depth + 1),
        ]),
      );
  }
}

const redactor = createRedactor([SECRET]);
const TAG = /<\s*\/?\s*(?:findings|system_message|message_for_user|response|say)(?![\w.:-])/gi;

const CHECKS: Readonly<Record<string, (text: string, random: Random) => boolean>> = {
  "a frame gives back its text": (text) => frameParse("findings", frameBuild("findings", "a", text))?.text === text,
  "a frame holds no tag of ours": (text) => frameBuild("findings", "a", text).match(TAG)?.length === 2,
  "a quoted text is one line without a tag of ours": (text) =>
    !quoted(text).includes("\n") && quoted(text).match(TAG) === null,
  "tags are read": (text) => {
    tagExtractAll(text, "say");
    return tagExtract(text, "response") === null ? tagStrip(text, "response") === text : true;
  },
  "what is salvaged and said is part of the reply": (text) =>
    salvageText(text).length <= text.length && messageSaid(text).length <= text.length,
  "TOML is read": (text) => Array.isArray(readToml(text)) || "problem" in readToml(text),
  "frontmatter is read": (text) => typeof readFrontmatter(`---\n${text}\n---\nx`) === "object",
  "rules judge any pattern and any path": (text, random) => {
    const path = textOf(random).slice(0, 4_000);
    const rules = [{ decision: "deny", tool: "*", path: text.slice(0, 1_000) } as const];
    return ["allow", "ask", "deny"].includes(permissionOf([rules], "write_file", { path }));
  },
  "a schema of a model is refused or checks any data": (_text, random) => {
    const checked = checkSchema(jsonOf(random), "model");
    if ("problem" in checked) return checked.problem !== "";
    dataFault(checked, jsonOf(random));
    return true;
  },
  "the terminal gets no control character": (text) => unsafeIn(terminalText(text)).length === 0,
  "JSON for machines holds no raw control character": (text) => {
    const line = jsonText({ text });
    return unsafeIn(line).length === 0 && (JSON.parse(line) as { text: string }).text === text;
  },
  "a secret is replaced": (text) => {
    const clean = redactor.text(text);
    return !clean.includes(SECRET) && (clean === text || clean.includes(REDACTED));
  },
  "a diff gives both texts": (text, random) => {
    const after = random.percent(50) ? text.slice(random.below(text.length + 1)) : textOf(random);
    return Array.isArray(lineDiff(text, after));
  },
};

let findings = 0;
let bytes = 0;
let slowest = 0;
const began = performance.now();
let told = began;
for (let at = seed; at < seed + runs; at += 1) {
  const random = createRandom(at);
  const text = textOf(random);
  bytes += Buffer.byteLength(text);
  for (const [name, holds] of Object.entries(CHECKS)) {
    const before = process.cpuUsage();
    const failed = problemOf(() => holds(text, random.fork()));
    const { user, system } = process.cpuUsage(before);
    slowest = Math.max(slowest, (user + system) / 1_000);
    const why = failed ?? ((user + system) / 1_000 > MAX_MS ? `${(user + system) / 1_000} ms of processor time` : null);
    if (why === null) continue;
    findings += 1;
    process.stdout.write(`seed ${at}: ${name}: ${why}\n`);
  }
  if (performance.now() - told > 2_000) {
    told = performance.now();
    process.stderr.write(`${at - seed + 1}/${runs} texts, ${findings} findings\n`);
  }
}
const seconds = ((performance.now() - began) / 1_000).toFixed(0);
const checks = Object.keys(CHECKS).length;
process.stdout.write(
  `${runs} texts, ${(bytes / 1e6).toFixed(0)} MB, ${checks} checks each, ${seconds} s, slowest ${slowest.toFixed(1)} ms, ${findings} findings\n`,
);
process.exitCode = findings > 0 ? 1 : 0;

function problemOf(check: () => boolean): string | null {
  try {
    return check() ? null : "it does not hold";
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message).split("\n").slice(0, 3).join(" | ") : String(error);
  }
}
