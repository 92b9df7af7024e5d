/**
 * `--json`: one JSON object a line on standard output, nothing else. Every object has `v`, the version of these lines, and a `type`, which
 * json-types.ts lists for all commands. Those of a command that works on a tree are written here:
 *
 * - what happens in the tree, with the fields of view/readable-event.ts;
 * - `message { id, agent, name, kind, text, repeated }`: something was said to the user; the same id marked `repeated` is the same message;
 * - `draining { runs }`: the turn is over and the command waits for this many runs;
 * - `notice { text }`: for people;
 * - `answer { tree, text }`: the answer of work that ended well (rule D13); null when the agent decided to say nothing;
 * - `error { code, message, remedy }`: why it did not end well;
 * - `done { outcome, exit, tree, store, model, because, runs, tokens, cost, estimated, elapsedMs, messages, answer }`: the last line once a
 *   tree was opened. `outcome` is `done`, `failed`, `timeout`, `interrupted`, `terminated` or `parked`; `runs` is `{ total, ok, notOk, open }`;
 *   `estimated` is the part of `tokens` that no provider counted; `messages` is `{ id, kind, text }` for each message, and `answer` what
 *   standard output holds without `--json`, also of work that did not end well.
 *
 * Fields and types may be added; none is renamed or removed while `v` is the same. Texts stand as they were said: JSON's own escapes keep
 * them harmless.
 */

import { answerOf } from "../../core/journal/spoken.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { Host } from "../host.ts";
import type { Problem } from "../problem.ts";
import { treeTotals } from "../../view/tree-model.ts";
import { type Display, NO_SETTING, type Said } from "./display.ts";
import { JSON_VERSION, type JsonLine } from "./json-types.ts";

export function jsonLine(value: JsonLine): string {
  return `${jsonText({ v: JSON_VERSION, ...value })}
`;
}

export function problemRecord({ code, message, remedy }: Problem): JsonLine {
  return { type: "error", code, message, remedy: remedy ?? null };
}

export function createJsonDisplay(host: Pick<Host, "out">): Display {
  let setting = NO_SETTING;
  let tree = "";
  const messages: Pick<Said, "id" | "kind" | "text">[] = [];
  return {
    begin(given) {
      setting = given;
    },
    changed(model, changes) {
      ({ tree } = model);
      for (const { type, ...rest } of changes) host.out(jsonLine({ type, ...rest }));
    },
    said(said) {
      const { id, kind, text } = said;
      messages.push({ id, kind, text });
      host.out(jsonLine({ type: "message", ...said }));
    },
    draining: (runs) => host.out(jsonLine({ type: "draining", runs })),
    ask: () => undefined,
    notice: (text) => host.out(jsonLine({ type: "notice", text })),
    answer: (text) => host.out(jsonLine({ type: "answer", tree, text })),
    end({ model, now, outcome, code, problem }) {
      if (problem !== null) host.out(jsonLine(problemRecord(problem)));
      const { runs, ok, notOk, open, tokens, cost, estimated, elapsedMs } = treeTotals(model, now);
      const counts = { total: runs, ok, notOk, open };
      const place = { tree: model.tree, store: setting.store, model: setting.model, because: setting.because };
      const used = { runs: counts, tokens, cost, estimated, elapsedMs };
      const said = { messages, answer: answerOf(messages) };
      host.out(jsonLine({ type: "done", outcome, exit: code, ...place, ...used, ...said }));
    },
    close: () => undefined,
  };
}
