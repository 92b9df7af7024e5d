/** A child that behaves as its first argument says. The number in its task is the time that its daemons sleep. */

import { spawn } from "node:child_process";
import { readdirSync, readlinkSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const [behaviour = ""] = process.argv.slice(2);
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
/** What this child reads. */
type Message = Readonly<
  Record<"attempt" | "correlation_id" | "task" | "type" | "text" | "question" | "problem", string>
>;
const next = async (): Promise<Message> => JSON.parse(String((await input.next()).value)) as Message;
const request = await next();
const { correlation_id, task } = request;
const say = (fields: object): number => writeSync(1, `${JSON.stringify({ v: 1, correlation_id, ...fields })}\n`);
const result = (summary: string, more: object = {}): number =>
  say({ type: "result", status: "ok", summary, artifacts: [], ...more });
const forever = (): unknown => setInterval(() => undefined, 60_000);
const usage = { input_tokens: 20, output_tokens: 5 };

/** A daemon that forks twice, leads a session and ignores SIGTERM. */
function startDaemon(): void {
  const [seconds = "60"] = /\d+\.\d+/.exec(task) ?? [];
  const script = `(setsid sh -c 'trap "" TERM HUP INT; (sleep ${seconds} & wait; sleep ${seconds}) & exit 0' &)`;
  spawn("/bin/sh", ["-c", script], { stdio: "ignore" });
}

const behaviours: Readonly<Record<string, () => unknown>> = {
  answer() {
    say({ type: "progress", text: "working", iterations: 1, usage: { input_tokens: 10, output_tokens: 2 } });
    result(`done: ${task}`, { usage });
  },
  typed: () => result("counted", { data: { words: 812 } }),
  artifacts: () => result("made", { artifacts: [{ kind: "path", value: "a.txt" }] }),
  reported() {
    say({ type: "report", text: "first" });
    say({ type: "report", text: "second", artifacts: [{ kind: "note", value: "n" }] });
    result("");
  },
  declined: () =>
    say({ type: "result", status: "error", reason: "no-credit", summary: "no credit left", artifacts: [] }),
  words: () => result(JSON.stringify(request)),
  "bad-json": () => (writeSync(1, "this is no JSON\n"), forever()),
  "bad-text": () => (writeSync(1, Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a])), forever()),
  "wrong-version": () => (say({ v: 2, type: "result" }), forever()),
  "wrong-type": () => (say({ type: "request", task: "x", limits: {} }), forever()),
  stranger: () => (say({ correlation_id: "another", type: "progress", text: "x" }), forever()),
  oversize() {
    const line = "x".repeat(1_000_000);
    for (;;) writeSync(1, line);
  },
  endless() {
    for (;;) say({ type: "progress", text: "x".repeat(60_000) });
  },
  noisy() {
    for (let count = 0; count < 20_000; count++) writeSync(2, `${"log ".repeat(500)}\n`);
    result("quiet now");
  },
  silent: forever,
  beating() {
    let beats = 0;
    setInterval(() => (++beats === 15 ? (result("alive"), process.exit()) : say({ type: "progress" })), 100);
  },
  stubborn() {
    process.on("SIGTERM", () => undefined);
    startDaemon();
    say({ type: "progress", text: "started" });
    forever();
  },
  /** Its first process never ends; the next one knows that it goes on. */
  patient() {
    if (Number(request.attempt) > 1) return (result(`attempt ${request.attempt}`), process.exit());
    startDaemon();
    forever();
  },
  obedient() {
    process.on("SIGTERM", () => (result("ended early"), process.exit()));
    say({ type: "progress", text: "started" });
    forever();
  },
  crash() {
    startDaemon();
    writeSync(2, "first line\nout of luck\n");
    process.exitCode = 3;
    setTimeout(() => process.exit(), 200);
  },
  quiet: () => process.exit(0),
  async ask() {
    say({ type: "question", id: "q1", text: "Which colour?", choices: ["red", "blue"] });
    const { type, question, text } = await next();
    result(`${type} ${question}: ${text}`);
    process.exit();
  },
  async steered() {
    say({ type: "progress", text: "started" });
    result(`told: ${(await next()).text}`);
    process.exit();
  },
  async mend() {
    say({ type: "report", text: "wrong", data: { words: "many" } });
    const { type, problem } = await next();
    say({ type: "report", text: `${type}: ${problem}`, data: { words: 3 } });
    result(`then ${(await next()).type}`, { data: { words: 3 } });
    process.exit();
  },
  twice() {
    startDaemon();
    result("the first");
    result("the second");
    writeSync(1, "no JSON at all\n");
    say({ type: "report", text: "too late" });
    forever();
  },
  surroundings() {
    const open = readdirSync("/proc/self/fd").flatMap((name) => {
      try {
        return [readlinkSync(`/proc/self/fd/${name}`)];
      } catch {
        return [];
      }
    });
    result(JSON.stringify({ env: process.env, argv: process.argv, folder: process.cwd(), open }));
  },
};

await behaviours[behaviour]?.();
if (["answer", "typed", "artifacts", "reported", "declined", "words", "surroundings", "noisy"].includes(behaviour))
  process.exit();
