/**
 * The real program with models that take their time, for tests that must catch it at work. All are the offline model
 * with MS milliseconds before each reply and a price:
 *
 * - `slow/MS`: nothing else; `stuck/MS`: it cannot be aborted; `looping/MS`: it never stops calling a tool;
 * - `writing/MS`: it sends a child, which writes `out.txt` and runs `touch made`, both of which need permission;
 * - `calling/MS`: it makes the calls `{ name, input }` that the file `calls.json` of the folder lists, one after the
 *   other;
 * - `talking/MS`: it delegates nothing and says "one two three …", a word every MS milliseconds;
 * - `saying/MS`: it says what is in `say.md`, a few characters every MS milliseconds, and then waits until there is a
 *   file `go`;
 * - `pausing/MS`: the same as `talking`, and after "three" it waits until there is a file `go` in the folder;
 * - `held/MS`: its children wait until there is a file `go` in the folder;
 * - `flaky/MS`: its first call fails in a way that is worth a retry;
 * - `broken/MS`: every call fails for good, with an escape sequence in what it says.
 */

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createProcessHost } from "../../../src/cli/process-host.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { type Model, ModelFailure, type ModelProvider } from "../../../src/contracts/model.ts";
import type { Json } from "../../../src/core/values/json.ts";
import type { ReplyPart } from "../../../src/core/values/message.ts";
import { createRehearsalModel } from "../../../src/cli/rehearsal/rehearsal.ts";

async function fileThere(path: string, signal: AbortSignal): Promise<void> {
  while (!existsSync(path)) {
    if (signal.aborted) throw new ModelFailure("aborted", "The call was aborted.");
    await sleep(20);
  }
}

function slowModel(kind: string, milliseconds: number): Model {
  const rehearsal = createRehearsalModel();
  let calls = 0;
  return {
    async call(request, options) {
      const how = kind === "stuck" ? {} : { signal: options.signal };
      await sleep(milliseconds, undefined, how).catch(() => {
        throw new ModelFailure("aborted", "The call was aborted.");
      });
      calls += 1;
      if (kind === "held" && request.system.includes("You do one task")) await fileThere("go", options.signal);
      if (kind === "flaky" && calls === 1) {
        throw new ModelFailure("provider-error", "overloaded", { retryable: true });
      }
      if (kind === "broken") throw new ModelFailure("provider-error", "\u001b[2Jthe provider said no");
      if (kind === "looping") {
        const call = { type: "tool-call" as const, id: `call_${calls}`, name: "list_files", input: {} };
        return { parts: [call], usage: null, stop: "tools" };
      }
      if (kind === "talking") return talk(WORDS, milliseconds, options, null);
      if (kind === "pausing") return talk(WORDS, milliseconds, options, 3);
      if (kind === "saying") {
        const parts = readFileSync("say.md", "utf8").match(/[^]{1,5}/g) ?? [];
        return talk(parts, milliseconds, options, parts.length);
      }
      if (kind === "calling") return { parts: [calling(request)], usage: null, stop: "end" };
      if (kind === "writing") return { parts: [writing(request)], usage: null, stop: "end" };
      return rehearsal.call(request, options);
    },
  };
}

const KINDS = /^(slow|held|stuck|flaky|broken|looping|writing|calling|talking|saying|pausing)\/(\d+)$/;
const WORDS = "one two three four five six seven eight nine ten\nand a last line".split(/(?<= )/);

async function talk(
  words: readonly string[],
  milliseconds: number,
  { signal, onText }: Parameters<Model["call"]>[1],
  pauseAfter: number | null,
): ReturnType<Model["call"]> {
  for (const [index, word] of words.entries()) {
    onText?.(word);
    if (index + 1 === pauseAfter) await fileThere("go", signal);
    await sleep(milliseconds, undefined, { signal }).catch(() => {
      throw new ModelFailure("aborted", "The call was aborted.");
    });
  }
  return { parts: [{ type: "text", text: words.join("") }], usage: null, stop: "end" };
}

function writing({ system, messages }: Parameters<Model["call"]>[0]): ReplyPart {
  const replies = messages.filter((message) => message.role === "assistant").length;
  const call = (name: string, input: Json): ReplyPart => ({ type: "tool-call", id: `call_${replies}`, name, input });
  const child = [
    call("write_file", { path: "out.txt", content: "written\n" }),
    call("run_command", { argv: ["touch", "made"] }),
    call("send_agent_message", { text: `heard: ${lastResult(messages)}` }),
  ];
  const root = [call("subagent", { task: "the writer" })];
  const steps = system.includes("You do one task") ? child : root;
  return steps[replies] ?? { type: "text", text: `It is over: ${lastResult(messages)}` };
}

function calling({ messages }: Parameters<Model["call"]>[0]): ReplyPart {
  const replies = messages.filter((message) => message.role === "assistant").length;
  const calls = JSON.parse(readFileSync("calls.json", "utf8")) as readonly { name: string; input: Json }[];
  const call = calls[replies];
  if (call === undefined) return { type: "text", text: `It is over: ${lastResult(messages)}` };
  return { type: "tool-call", id: `call_${replies}`, ...call };
}

function lastResult(messages: Parameters<Model["call"]>[0]["messages"]): string {
  const last = messages.findLast((message) => message.role === "tool");
  return last?.role === "tool" ? (last.results[0]?.text ?? "") : "";
}

const models = new Map<string, Model>();

const provider: ModelProvider = {
  resolve(name) {
    const [, kind, milliseconds] = KINDS.exec(name) ?? [];
    if (kind === undefined) return { unavailable: `There is no model ${name}.` };
    const price = { input: 3_000_000, output: 15_000_000, cachedInput: 300_000 };
    const model = models.get(name) ?? slowModel(kind, Number(milliseconds));
    models.set(name, model);
    return { model, facts: { window: 200_000, price } };
  },
};

const host = createProcessHost();
host.end(await runProgram(process.argv.slice(2), host, { models: () => [provider] }));
