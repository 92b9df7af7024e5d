/** Folds facts into the contexts. Called with every fact, right after `apply`, with the texts of its row at hand. */

import type { Fact } from "../event.ts";
import { stepKey, type StepKey } from "../ids.ts";
import type { Json } from "../json.ts";
import type { Place } from "../place.ts";
import { runPayload } from "../runs/payload.ts";
import { quoted } from "../text/frame.ts";
import { messageBuildSystemText, messageBuildUserFacing } from "../text/index.ts";
import { postedReport } from "../announcements/announcement-text.ts";
import { contextDrop } from "./contexts.ts";
import { openRoot, renewChildren, skillText } from "./observe-definitions.ts";
import { createRun, endRun, report } from "./observe-runs.ts";
import {
  compact,
  endTurn,
  join,
  nudge,
  queueAnnouncement,
  reply,
  result,
  shorten,
  startTurn,
} from "./observe-turns.ts";
import { argumentsOf, asText, type FactOf, type Observing, type TextAt } from "./observing.ts";
import { outcomeLabel, sentenceEnd } from "./outcome-label.ts";
import type { RunTexts } from "./run-texts.ts";

export function observe(o: Observing, fact: Fact, place: Place, textAt: TextAt): void {
  switch (fact.type) {
    case "tree-opened":
    case "tree-forked":
      return openRoot(o);
    case "catalog-changed":
      openRoot(o);
      return renewChildren(o);
    case "message-posted":
      return void o.contexts.messages.set(stepKey(place.seq, 0), {
        to: fact.to,
        text: postedText(fact, textAt(0)),
        internal: fact.kind === "system",
      });
    case "message-sent":
      return sent(o, fact, stepKey(place.seq, fact.n), textAt);
    case "run-created":
      return createRun(o, fact, textAt);
    case "run-started":
      return;
    case "turn-started":
      return startTurn(o, fact);
    case "messages-joined":
      return join(o, fact.agent, fact.take);
    case "model-called": {
      o.contexts.effects.set(stepKey(place.seq, fact.n), { agent: fact.agent, call: null });
      const context = o.contexts.agents.get(fact.agent);
      if (context !== undefined) context.compacting = fact.purpose === "compaction";
      return;
    }
    case "tool-called":
      return void o.contexts.effects.set(stepKey(place.seq, fact.n), { agent: fact.agent, call: fact.call });
    case "model-replied":
      return reply(o, fact, textAt);
    case "model-failed": {
      const served = o.contexts.effects.get(fact.effect);
      const context = served === undefined ? undefined : o.contexts.agents.get(served.agent);
      if (context !== undefined) context.failure = asText(textAt(0));
      return;
    }
    case "tool-finished": {
      const served = o.contexts.effects.get(fact.effect);
      o.contexts.effects.delete(fact.effect);
      if (served === undefined || served.call === null) return;
      return result(o, served.agent, served.call, asText(textAt(0)), fact.failed === true);
    }
    case "tool-answered": {
      if (fact.skill !== undefined) return result(o, fact.agent, fact.call, skillText(o, fact.skill), false);
      const texts = fact.run === undefined ? undefined : o.contexts.runs.get(fact.run);
      if (texts === undefined)
        return result(o, fact.agent, fact.call, asText(textAt(fact.text ?? 0)), fact.failed === true);
      if (fact.run !== undefined) o.contexts.runs.delete(fact.run);
      return result(o, fact.agent, fact.call, JSON.stringify(runPayload(texts, summaryBytes(o), o.sha256)), false);
    }
    case "run-reported":
      return report(o, fact, textAt);
    case "run-report-refused": {
      const texts = o.contexts.runs.get(fact.run);
      if (texts !== undefined) texts.refused = asText(textAt(fact.problem));
      return;
    }
    case "run-ended":
      return endRun(o, fact, textAt);
    case "run-undeliverable":
      return void o.contexts.runs.delete(fact.run);
    case "announcement-queued":
      return queueAnnouncement(o, fact);
    case "nudge-given":
      return nudge(o, fact);
    case "turn-ended":
      return endTurn(o, fact);
    case "context-compacted":
      return compact(o, fact, textAt);
    case "results-shortened":
      return shorten(o, fact);
    case "usage-estimated":
      if (fact.aborted === true) o.contexts.effects.delete(fact.effect);
      return;
    case "tree-closed":
      return contextDrop(o.contexts, 0);
    case "channel-sent":
      return;
    case "rights-changed":
    case "run-asked":
    case "answer-given":
    case "question-asked":
    case "effects-lost":
    case "slots-offered":
    case "timers-due":
    case "cancel-asked":
    case "close-asked":
    case "texts-erased":
    case "budget-awaited":
    case "limit-neared":
    case "turn-model-dropped":
    case "effect-repeated":
    case "usage-learnt":
    case "run-settled":
    case "model-retry-set":
    case "run-state-changed":
    case "barrier-passed":
    case "announcement-blocked":
    case "window-learnt":
    case "erasure-asked":
      return;
  }
}

function postedText(fact: FactOf<"message-posted">, text: Json | undefined): string {
  if (fact.kind !== "system") return asText(text);
  return messageBuildSystemText(asText(text), fact.origin ?? "runtime");
}

function sent(o: Observing, fact: FactOf<"message-sent">, key: StepKey, textAt: TextAt): void {
  const { messages, runs, relays } = o.contexts;
  if (fact.run !== undefined) {
    const ended = runs.get(fact.run);
    runs.delete(fact.run);
    if (ended === undefined) return;
    const text = messageBuildSystemText(
      sentenceEnd(`${quoted(ended.name)} ${outcomeLabel(ended.outcome)}`),
      ended.agent,
    );
    return void messages.set(key, { to: fact.to, text, internal: true });
  }
  const report = postedAtOnce(o, fact);
  if (report !== null) {
    return void messages.set(key, {
      to: fact.to,
      text: postedReport(report, summaryBytes(o), o.sha256),
      internal: true,
    });
  }
  const origin = o.state.agents.get(fact.from)?.id ?? "runtime";
  const text = asText(argumentsOf(o, fact.call, textAt)["text"]);
  if (fact.kind !== "user-facing")
    return void messages.set(key, { to: fact.to, text: messageBuildSystemText(text, origin), internal: true });
  messages.set(key, { to: fact.to, text: messageBuildUserFacing(text, origin), internal: true });
  relays.set(key, { name: runs.get(fact.from)?.name ?? "", text });
}

/** The run whose newest report this message is, or null: a report is posted only under `announce: "each"`. */
function postedAtOnce(o: Observing, { from, to, kind }: FactOf<"message-sent">): RunTexts | null {
  const run = o.state.runs.get(from);
  if (kind !== "system" || run?.announceEach !== true || run.parent !== to) return null;
  if (o.state.agents.get(from)?.definition.reporting !== "tool") return null;
  return o.contexts.runs.get(from) ?? null;
}

function summaryBytes(o: Observing): number {
  return o.state.settings?.limits.summaryBytes ?? 0;
}
