/**
 * `--json`: one JSON object a line on standard output, nothing else. Every object has `v`, the version of these lines,
 * and a `type`. docs/reference/cli.md lists all types with their fields; those of events in a tree are the fields of
 * view/readable-event.ts.
 *
 * Fields and types may be added; none is renamed or removed while `v` is the same. Texts are not sanitised: JSON
 * escapes their control characters.
 */

import { answerOf } from "../../view/channel-message.ts";
import { jsonText } from "../../core/text/json-text.ts";
import type { CommandCall } from "../command.ts";
import type { Host } from "../host.ts";
import type { Problem } from "../problem.ts";
import { treeTotals } from "../../view/tree-model.ts";
import { type Display, NO_SETUP, type UserMessage } from "./display.ts";
import { JSON_VERSION, type JsonLine } from "./json-types.ts";

export function jsonLine(value: JsonLine): string {
  return `${jsonText({ v: JSON_VERSION, ...value })}
`;
}

/** Prints what a command found: the record with `--json`, else the text. */
export function print(
  { options, host }: Pick<CommandCall, "options" | "host">,
  record: JsonLine,
  text: () => string,
): void {
  host.out(options.json === true ? jsonLine(record) : `${text()}\n`);
}

export function problemRecord({ code, message, remedy }: Problem): JsonLine {
  return { type: "error", code, message, remedy: remedy ?? null };
}

export function createJsonDisplay(host: Pick<Host, "out">): Display {
  let setup = NO_SETUP;
  let tree = "";
  const messages: Pick<UserMessage, "id" | "kind" | "text">[] = [];
  return {
    begin(given) {
      setup = given;
    },
    changed(model, changes) {
      ({ tree } = model);
      for (const { type, ...rest } of changes) if (type !== "message") host.out(jsonLine({ type, ...rest }));
    },
    message(message) {
      const { id, kind, text } = message;
      messages.push({ id, kind, text });
      host.out(jsonLine({ type: "message", ...message }));
    },
    text: ({ type, ...piece }) => host.out(jsonLine({ type, ...piece })),
    rest: (of) => host.out(jsonLine({ type: "rest", tree: of })),
    draining: (runs) => host.out(jsonLine({ type: "draining", runs })),
    ask: () => undefined,
    notice: (text) => host.out(jsonLine({ type: "notice", text })),
    answer: (text) => host.out(jsonLine({ type: "answer", tree, text })),
    end({ model, now, outcome, code, problem }) {
      if (problem !== null) host.out(jsonLine(problemRecord(problem)));
      const { runs, ok, notOk, open, tokens, cost, estimated, elapsedMs } = treeTotals(model, now);
      const { model: name, because, store } = setup;
      host.out(
        jsonLine({
          type: "done",
          outcome,
          exit: code,
          tree: model.tree,
          store,
          model: name,
          because,
          runs: { total: runs, ok, notOk, open },
          tokens,
          cost,
          estimated,
          elapsedMs,
          messages,
          answer: answerOf(messages),
        }),
      );
    },
    close: () => undefined,
  };
}
