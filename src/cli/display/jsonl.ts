/**
 * `--json`: one JSON object a line on standard output, nothing else. Every object has a `type`:
 *
 * - what happens in the tree: `agent-opened`, `run-created`, `run-started`, `run-state-changed`, `run-ended`, `turn-started`,
 *   `turn-ended`, `model-retry`, `tool-started`, `tool-ended`, `question-asked`, `question-answered`, with the fields of tree/change.ts;
 * - `message { id, agent, name, text, repeated }`: something was said to the user; the same id marked `repeated` is the same message;
 * - `draining { runs }`: the turn is over and the command waits for this many runs;
 * - `notice { text }`: for people;
 * - `answer { text }`: what the task came to; null when the agent decided to say nothing;
 * - `error { code, message, remedy }`: why there is none;
 * - `done { outcome, exit, tree, store, model, because, runs, tokens, cost, estimated, elapsedMs }`: the last line once a tree was opened. `outcome` is
 *   `done`, `failed`, `timeout`, `interrupted`, `terminated` or `parked`; `runs` is `{ total, ok, notOk, open }`; `estimated` is the part of `tokens` that no provider counted.
 *
 * Fields and types may be added; none is renamed or removed. Texts stand as they were said: JSON's own escapes keep them harmless.
 */

import type { Host } from "../host.ts";
import type { Problem } from "../problem.ts";
import { treeTotals } from "../tree/tree-model.ts";
import type { Display, Setting } from "./display.ts";

/** Control characters that JSON lets pass, and line ends that only JavaScript knows. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g;

export function jsonLine(value: object): string {
  const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `${JSON.stringify(value).replace(UNSAFE, escaped)}\n`;
}

export function problemRecord({ code, message, remedy }: Problem): object {
  return { type: "error", code, message, remedy: remedy ?? null };
}

export function createJsonDisplay(host: Pick<Host, "out">): Display {
  let setting: Setting = { model: "", because: "", store: "", recovered: 0 };
  const line = (value: object): void => host.out(jsonLine(value));
  return {
    begin(given) {
      setting = given;
    },
    changed: (_model, changes) => changes.forEach(({ type, ...rest }) => line({ type, ...rest })),
    said: (said) => line({ type: "message", ...said }),
    draining: (runs) => line({ type: "draining", runs }),
    ask: () => undefined,
    notice: (text) => line({ type: "notice", text }),
    answer: (text) => line({ type: "answer", text }),
    end({ model, now, outcome, code, problem }) {
      if (problem !== null) line(problemRecord(problem));
      const { runs, ok, notOk, open, tokens, cost, estimated, elapsedMs } = treeTotals(model, now);
      const counts = { total: runs, ok, notOk, open };
      const place = { tree: model.tree, store: setting.store, model: setting.model, because: setting.because };
      line({ type: "done", outcome, exit: code, ...place, runs: counts, tokens, cost, estimated, elapsedMs });
    },
    close: () => undefined,
  };
}
