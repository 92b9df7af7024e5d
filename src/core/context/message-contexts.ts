/** Messages that wait in inboxes, framed as the model will see them. */

import type { FactOf } from "../event.ts";
import type { AgentNumber, StepKey } from "../values/ids.ts";
import { stepKey } from "../values/ids.ts";
import { quoted } from "../text/frame.ts";
import { messageBuildSystemText, messageBuildUserFacing } from "../text/index.ts";
import { postedReport } from "../text/prompts/announcement-text.ts";
import { outcomeLabel, sentenceEnd } from "../text/prompts/outcome-label.ts";
import { contextAppend } from "./contexts.ts";
import { argumentsOf, asText, type ContextHandlers, contextOf, type Fold, summaryBytes, type TextAt } from "./fold.ts";
import type { RunTexts } from "./run-texts.ts";

/** The run whose newest report this message is, or null. Reports are posted only under `announce: "each"`. */
function postedRun({ state, contexts }: Fold, { from, to, kind }: FactOf<"message-sent">): RunTexts | null {
  const run = state.runs.get(from);
  if (kind !== "system" || run?.announceEach !== true || run.parent !== to) return null;
  if (state.agents.get(from)?.definition.reporting !== "tool") return null;
  return contexts.runs.get(from) ?? null;
}

function sentText(fold: Fold, fact: FactOf<"message-sent">, key: StepKey, textAt: TextAt): string | null {
  const { state, contexts, sha256 } = fold;
  if (fact.run !== undefined) {
    const ended = contexts.runs.get(fact.run);
    contexts.runs.delete(fact.run);
    if (ended === undefined) return null;
    const line = sentenceEnd(`${quoted(ended.name)} ${outcomeLabel(ended.outcome)}`);
    return messageBuildSystemText(line, ended.agent);
  }
  const report = postedRun(fold, fact);
  if (report !== null) return postedReport(report, summaryBytes(fold), sha256);
  const origin = state.agents.get(fact.from)?.id ?? "runtime";
  const text = asText(argumentsOf(fold, fact.call, textAt)["text"]);
  if (fact.kind !== "user-facing") return messageBuildSystemText(text, origin);
  contexts.relays.set(key, { name: contexts.runs.get(fact.from)?.name ?? "", text });
  return messageBuildUserFacing(text, origin);
}

/** Messages enter the context of the agent. */
export function placeMessages(fold: Fold, agent: AgentNumber, take: readonly StepKey[]): void {
  const { contexts } = fold;
  const context = contextOf(fold, agent);
  for (const key of take) {
    const message = contexts.messages.get(key);
    contexts.messages.delete(key);
    if (context === undefined || message === undefined) continue;
    contextAppend(context, { role: "user", text: message.text });
    context.joined.push(message.text);
    if (contexts.relays.has(key)) context.relays.push(key);
  }
}

export const messageContexts = {
  "message-posted"({ contexts }, { to, kind, origin }, textAt, { seq }) {
    const given = asText(textAt(0));
    const internal = kind === "system";
    const text = internal ? messageBuildSystemText(given, origin ?? "runtime") : given;
    contexts.messages.set(stepKey(seq, 0), { to, text, internal });
  },

  "message-sent"(fold, fact, textAt, { seq }) {
    const key = stepKey(seq, fact.n);
    const text = sentText(fold, fact, key, textAt);
    if (text !== null) fold.contexts.messages.set(key, { to: fact.to, text, internal: true });
  },

  "messages-joined"(fold, { agent, take }) {
    placeMessages(fold, agent, take);
  },
} satisfies ContextHandlers;
