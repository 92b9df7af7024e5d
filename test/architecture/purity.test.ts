/** check-purity reports each use of clock, randomness and shared state, and does not report correct code. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkSources, findImpurities } from "../../scripts/check-purity.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const rulesBroken = (path: string, text: string): string[] => [
  ...new Set(findImpurities(path, text).map((impurity) => impurity.rule)),
];

describe("outside the World, reading the clock or drawing randomness is reported", () => {
  test.each([
    ["the wall clock", "export const now = () => Date.now();"],
    ["the wall clock by another spelling", 'export const now = () => Date["now"]();'],
    ["the wall clock through the global object", "export const now = () => globalThis.Date.now();"],
    ["the wall clock taken out of Date", "export const f = () => { const { now } = Date; return now(); };"],
    ["a new Date without a time", "export const now = () => new Date();"],
    ["Date called as a function", "export const now = () => Date();"],
    ["Date as an argument", "export const f = (g: (d: unknown) => void) => g(Date);"],
    ["the monotonic clock", "export const now = () => performance.now();"],
    ["the monotonic clock's module", 'import { performance } from "node:perf_hooks"; export const p = performance;'],
    ["the process clock", "export const now = () => process.hrtime.bigint();"],
    ["the process clock, imported", 'import { hrtime } from "node:process"; export const now = () => hrtime();'],
    ["Temporal's clock", "export const now = () => Temporal.Now.instant();"],
    ["Math.random", "export const n = () => Math.random();"],
    ["Math.random as a value", "export const source = { random: Math.random };"],
    ["setTimeout", "export const f = (g: () => void) => setTimeout(g, 1);"],
    ["setTimeout through the global object", "export const f = (g: () => void) => globalThis.setTimeout(g, 1);"],
    ["setTimeout as a default", "export const f = (sleep = setTimeout) => sleep;"],
    ["setTimeout as a shorthand", "export const timers = { setTimeout };"],
    ["setInterval", "export const f = (g: () => void) => setInterval(g, 1);"],
    ["setImmediate", "export const f = (g: () => void) => setImmediate(g);"],
    ["the timers module", 'import { setTimeout as sleep } from "node:timers/promises"; export const s = sleep;'],
    ["the timers module, imported late", 'export const f = () => import("node:timers/promises");'],
    ["a timer inside a signal", "export const f = () => AbortSignal.timeout(5);"],
    ["crypto.randomUUID of the global", "export const id = () => crypto.randomUUID();"],
    ["crypto.getRandomValues", "export const f = (b: Uint8Array) => crypto.getRandomValues(b);"],
    ["randomUUID imported", 'import { randomUUID } from "node:crypto"; export const id = () => randomUUID();'],
    ["randomBytes imported", 'import { randomBytes as bytes } from "crypto"; export const f = () => bytes(8);'],
    [
      "randomBytes of the default import",
      'import crypto from "node:crypto"; export const f = () => crypto.randomBytes(8);',
    ],
    ["randomInt of the namespace", 'import * as c from "node:crypto"; export const f = () => c.randomInt(8);'],
    ["a package that makes ids", 'import { uuidv7 } from "uuidv7"; export const id = () => uuidv7();'],
  ])("%s", (_name, text) => {
    expect(rulesBroken("src/runtime/loop.ts", text)).toEqual(["world"]);
    expect(rulesBroken("src/runtime/world.ts", text)).toEqual([]);
    expect(rulesBroken("src/runtime/loop.test.ts", text)).toEqual([]);
  });
});

describe("module-level mutable state is reported", () => {
  test.each([
    ["let", "let count = 0; export const next = () => ++count;"],
    ["an exported let", "export let count = 0;"],
    ["var", "var count = 0; export const next = () => count;"],
    ["a Map", "const seen = new Map<string, number>(); export const size = () => seen.size;"],
    ["a Set with members", 'export const names = new Set(["a"]);'],
    ["a WeakMap", "const cache = new WeakMap<object, string>(); export const f = (o: object) => cache.get(o);"],
    ["an array that is pushed to", "const log: string[] = []; export const f = (s: string) => { log.push(s); };"],
    ["an array that is set by index", "const log: string[] = []; export const f = (s: string) => { log[0] = s; };"],
    ["an object whose property is set", "const s = { n: 0 }; export const f = () => { s.n = 1; };"],
    ["an object whose property is incremented", "const s = { n: 0 }; export const f = () => s.n++;"],
    ["an object whose property is deleted", "const s: { n?: 1 } = {}; export const f = () => { delete s.n; };"],
    ["an array inside an object", "const s = { a: [1] }; export const f = () => { s.a.push(2); };"],
    ["an object as the target of Object.assign", "const s = {}; export const f = (o: object) => Object.assign(s, o);"],
    ["a function that carries a counter", "export function f() { f.calls = 1; } f.calls = 0;"],
    ["a static property", "export class Registry { static count = 0; }"],
    ["a static Map", "export class Registry { static readonly all = new Map(); }"],
    ["an array of another file", 'import { log } from "./log.ts"; export const f = () => { log.push("x"); };'],
    ["the global object", "export const f = () => { globalThis.errand = 1; };"],
    ["a regular expression with a position", "const re = /a/g; export const f = (s: string) => re.test(s);"],
  ])("%s", (_name, text) => {
    expect(rulesBroken("src/stores/memory.ts", text)).toEqual(["module-state"]);
    expect(rulesBroken("src/runtime/world.ts", text)).toEqual(["module-state"]);
    expect(rulesBroken("src/stores/memory.test.ts", text)).toEqual([]);
  });
});

describe("in core, what is not pure is reported", () => {
  test.each([
    ["core-imports", "a built-in module", 'import { readFileSync } from "node:fs"; export const f = readFileSync;'],
    ["core-imports", "a built-in module without prefix", 'import fs from "fs"; export const f = fs;'],
    ["core-imports", "a package", 'import { z } from "zod"; export const s = z;'],
    ["core-imports", "the error registry", 'import { fail } from "../errors.ts"; export const f = fail;'],
    [
      "core-imports",
      "a type from outside",
      'import type { World } from "../contracts/world.ts"; export type W = World;',
    ],
    ["core-imports", "a re-export from outside", 'export { fail } from "../errors.ts";'],
    ["core-imports", "an import type from outside", 'export type W = import("../contracts/world.ts").World;'],
    ["core-imports", "a late import", 'export const f = () => import("../errors.ts");'],
    ["core-async", "an async function", "export async function f() {}"],
    ["core-async", "an async arrow", "export const f = async () => 1;"],
    ["core-async", "an async method", "export const o = { async f() {} };"],
    ["core-async", "await", "export const x = await f(); declare function f(): number;"],
    [
      "core-async",
      "for await",
      "declare const xs: Iterable<1>; for await (const x of xs) f(x); declare function f(x: 1): void;",
    ],
    ["core-async", "a Promise", "export const f = () => Promise.resolve(1);"],
    ["core-async", "a Promise as a type", "export type F = () => Promise<number>;"],
    ["core-host", "the process", "export const f = () => process.cwd();"],
    ["core-host", "a Buffer", 'export const f = () => Buffer.from("a");'],
    ["core-host", "the network", 'export const f = () => fetch("localhost");'],
    ["core-locale", "toLocaleString", "export const f = (n: number) => n.toLocaleString();"],
    ["core-locale", "toLocaleLowerCase", "export const f = (s: string) => s.toLocaleLowerCase();"],
    ["core-locale", "localeCompare", "export const f = (a: string, b: string) => a.localeCompare(b);"],
    ["core-locale", "localeCompare by another spelling", 'export const f = (a: string) => a["localeCompare"]("b");'],
    ["core-locale", "Intl", "export const f = () => new Intl.Segmenter();"],
    ["core-locale", "normalize", 'export const f = (s: string) => s.normalize("NFC");'],
    ["core-unicode", "a property escape", "export const re = /\\p{L}/u;"],
    ["core-unicode", "a negated property escape", "export const re = /[^\\P{L}]/v;"],
    ["core-unicode", "a property escape in a string", 'export const re = new RegExp("\\\\p{L}", "u");'],
  ])("%s: %s", (rule, _name, text) => {
    expect(rulesBroken("src/core/decide.ts", text)).toEqual([rule]);
    expect(rulesBroken("src/core/decide.test.ts", text)).toEqual([]);
    if (rule !== "core-imports") expect(rulesBroken("src/server/http.ts", text)).toEqual([]);
  });
});

describe("in core, a word of a protocol or a transport is reported", () => {
  test.each([
    ["an identifier", "export const acp = 1;"],
    ["an identifier of several words", "export const startMcpServer = 1;"],
    ["an identifier that begins with the word", "export const httpStatus = 1;"],
    ["the word with a digit", "export const a2aRunner = 1;"],
    ["a constant", "export const SSE_EVENTS = 1;"],
    ["a type", "export interface HTTPReply {}"],
    ["a property", "export const f = (o: { sse: 1 }) => o.sse;"],
    ["a string", 'export const f = "https://example.org";'],
    ["a template", "export const f = (s: string) => `${s} over mcp`;"],
    ["an import", 'import { a } from "./acp.ts"; export const f = a;'],
  ])("%s", (_name, text) => {
    expect(rulesBroken("src/core/decide.ts", text)).toEqual(["core-protocol"]);
    expect(rulesBroken("src/mcp/serve.ts", text)).toEqual([]);
  });

  test.each(["assess", "PASSED", "classes", "sseless", "acpx", "processed", ".mcp.json"])(
    "%s is not reported",
    (word) => {
      expect(rulesBroken("src/core/decide.ts", `export const f = "${word}";`)).toEqual([]);
    },
  );
});

describe("outside the terminal writer, printing is reported", () => {
  test.each([
    ["console", 'export const f = () => console.log("a");'],
    ["console through the global object", 'export const f = () => globalThis.console.error("a");'],
    ["console as an argument", "export const f = (g: (c: unknown) => void) => g(console);"],
    ["the console module", 'import { log } from "node:console"; export const f = () => log("a");'],
    ["standard output", 'export const f = () => process.stdout.write("a");'],
    ["standard error by another spelling", 'export const f = () => process["stderr"].write("a");'],
    ["standard output taken out of process", "export const f = () => { const { stdout } = process; return stdout; };"],
    ["standard output, imported", 'import { stdout } from "node:process"; export const f = () => stdout;'],
    ["standard output of the module", 'import process from "node:process"; export const f = () => process.stdout;'],
    ["a stream on a descriptor", 'import { WriteStream } from "node:tty"; export const f = () => new WriteStream(1);'],
    ["a descriptor", 'import { writeSync } from "node:fs"; export const f = () => writeSync(1, "a");'],
  ])("%s", (_name, text) => {
    expect(rulesBroken("src/cli/commands/ps.ts", text)).toEqual(["terminal"]);
    expect(rulesBroken("src/cli/terminal-writer.ts", text)).toEqual([]);
    expect(rulesBroken("src/cli/commands/ps.test.ts", text)).toEqual([]);
  });

  test("the type of a stream is not reported", () => {
    const text =
      'import { isatty, type WriteStream } from "node:tty"; export const f = (s: WriteStream) => isatty(s.columns);';
    expect(rulesBroken("src/cli/commands/ps.ts", text)).toEqual([]);
    expect(
      rulesBroken(
        "src/cli/commands/ps.ts",
        'import type { WriteStream } from "node:tty"; export type W = WriteStream;',
      ),
    ).toEqual([]);
  });
});

describe("correct code is not reported", () => {
  test.each([
    ["a Date of a given time", "export const f = (at: number) => new Date(at).toISOString();"],
    ["a time in parts", "export const t = Date.UTC(2026, 0, 1);"],
    ["a test for a Date", "export const f = (x: unknown) => x instanceof Date;"],
    ["Date as a type", "export const f = (d: Date): Date => d;"],
    ["the World's clock", "export const f = (world: { now(): number }) => world.now();"],
    ["a local of the same name", "export const f = (performance: { now(): number }) => performance.now();"],
    [
      "a timer function as a parameter",
      "export const f = (setTimeout: (g: () => void) => void, g: () => void) => setTimeout(g);",
    ],
    ["a property of the same name", "export const f = (o: { setTimeout(): void }) => o.setTimeout();"],
    ["a declared method of the same name", "export interface Timers { setTimeout(): void; performance: number }"],
    ["a key of the same name", "export const o = { setTimeout: 1, performance: 2 };"],
    ["ordinary mathematics", "export const f = (a: number) => Math.max(a, 1);"],
    ["a local let", "export const f = () => { let n = 0; n += 1; return n; };"],
    ["a local Map", "export const f = () => { const m = new Map([[1, 2]]); m.set(2, 3); return m; };"],
    [
      "a local that hides a constant",
      "const s = [1]; export const f = (s: number[]) => { s.push(1); }; export const t = () => s;",
    ],
    [
      "a read-only Map",
      'const names: ReadonlyMap<string, number> = new Map([["a", 1]]); export const f = () => names.get("a");',
    ],
    ["a read-only Set", 'export const names: ReadonlySet<string> = new Set(["a"]);'],
    ["a constant table", 'export const table = { a: 1 } as const; export const list = ["a", "b"] as const;'],
    ["a sorted copy", "const list = [2, 1] as const; export const f = () => list.toSorted();"],
    ["a regular expression without a position", "const re = /a/; export const f = (s: string) => re.test(s);"],
    ["replacing with a global expression", 'const re = /a/g; export const f = (s: string) => s.replace(re, "");'],
    ["a declared variable", "declare const brand: unique symbol; export type Id = string & { readonly [brand]: 1 };"],
    ["a hash", "export const f = (s: { hash(): string }) => s.hash();"],
    ["a parameter changed in place", "export const apply = (state: { n: number }) => { state.n += 1; };"],
    ["an import of another file", 'import { f } from "./neighbour.ts"; export const g = () => f();'],
    ["an import of a type", 'import type { F } from "../core/neighbour.ts"; export type G = F;'],
  ])("%s", (_name, text) => {
    expect(findImpurities("src/core/decide.ts", text)).toEqual([]);
    expect(findImpurities("src/runtime/loop.ts", text)).toEqual([]);
  });

  test("a hash of node:crypto, outside core", () => {
    const text = 'import { createHash } from "node:crypto"; export const f = () => createHash("sha256");';
    expect(findImpurities("src/stores/sqlite.ts", text)).toEqual([]);
  });
});

test("an impurity has its file, line and column", () => {
  expect(
    findImpurities("src/cli/main.ts", "export const a = 1;\nexport const f = () => Math.random();\n"),
  ).toMatchObject([{ path: "src/cli/main.ts", line: 2, column: 24 }]);
});

test("the sources are pure", () => {
  const { files, impurities } = checkSources(root);
  expect(files).toBeGreaterThan(0);
  expect(impurities).toEqual([]);
});
