/** Scripts for the children of a server under test. Their task is `Count: WORD`. */

import type { ModelCall, Script } from "../agents/model-server.ts";
import type { WireReply } from "../models/wires/wire.ts";

/** What a child does: it reports, and its run ends. */
function report({ body, tool }: ModelCall): WireReply {
  const name = tool("send_agent_message") ?? "";
  const word = wordOf(body);
  const text = word === "big" ? `result of big ${"x".repeat(100_000)}` : `result of ${word}`;
  return { calls: [{ id: `call_${word}`, name, arguments: JSON.stringify({ text, final: true }) }] };
}

export const reporting: Script = report;

/** A child that first writes a file, for which it needs permission, and then reports what came of it. */
export const writing: Script = (call) => {
  const { body, sent, tool } = call;
  if (sent.results.length === 0) {
    const input = { path: "note.txt", content: wordOf(body) };
    return { calls: [{ id: "call_write", name: tool("write_file") ?? "", arguments: JSON.stringify(input) }] };
  }
  const text = `write: ${sent.results.join(" ")}`;
  const name = tool("send_agent_message") ?? "";
  return { calls: [{ id: "call_report", name, arguments: JSON.stringify({ text, final: true }) }] };
};

export function wordOf(body: string): string {
  const [, word = "nothing"] = /Count: (\w+)/.exec(body) ?? [];
  return word;
}

/** Children that report once they are let go. */
export function slowly(): {
  readonly script: Script;
  /** Resolves when this many model calls have come. */
  asked(calls: number): Promise<void>;
  letGo(): void;
} {
  let calls = 0;
  const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
  const waiting: { readonly calls: number; readonly resolve: () => void }[] = [];
  return {
    async script(call) {
      calls += 1;
      for (const one of waiting) if (one.calls <= calls) one.resolve();
      await open;
      return report(call);
    },
    asked: (wanted) =>
      new Promise((resolve) => (calls >= wanted ? resolve() : waiting.push({ calls: wanted, resolve }))),
    letGo,
  };
}
