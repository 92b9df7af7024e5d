/**
 * `apply`: the one function that changes a tree's state. Loading, recovery and replay fold recorded facts through it and decide
 * nothing again.
 *
 * Invariants:
 *  1. It is total: a fact that names what is not there changes nothing.
 *  2. It never decides: whatever could have been otherwise is in the fact.
 *  3. It reads heads alone. Changing what it makes of a recorded fact needs a new revision (revision.ts).
 */

import {
  applyAnnouncementBlocked,
  applyAnnouncementQueued,
  applyBarrierPassed,
} from "./announcements/apply-announcements.ts";
import {
  applyCatalogChanged,
  applyChannelSent,
  applyContextCompacted,
  applyNudgeGiven,
  applyResultsShortened,
  applyTreeClosed,
  applyTreeForked,
  applyTreeOpened,
  applyTurnEnded,
  applyTurnStarted,
  applyWindowLearnt,
} from "./agent/apply-agent.ts";
import {
  applyEffectRepeated,
  applyErasureAsked,
  applyModelCalled,
  applyModelFailed,
  applyModelReplied,
  applyModelRetrySet,
  applyRunSettled,
  applyTextsErased,
  applyToolAnswered,
  applyToolCalled,
  applyToolFinished,
  applyTurnModelDropped,
  applyUsageEstimated,
  applyUsageLearnt,
} from "./agent/apply-effects.ts";
import type { Fact } from "./event.ts";
import { applyMessagePosted, applyMessageSent, applyMessagesJoined } from "./inbox/apply-inbox.ts";
import {
  applyRunCreated,
  applyRunEnded,
  applyRunReported,
  applyRunReportRefused,
  applyRunStarted,
  applyRunStateChanged,
  applyRunUndeliverable,
} from "./runs/apply-runs.ts";
import type { Place } from "./place.ts";
import { applyAnswerGiven, applyQuestionAsked } from "./questions/apply-questions.ts";
import type { TreeState } from "./state.ts";
import { timersDropDue } from "./timers.ts";

export function apply(state: TreeState, fact: Fact, place: Place): void {
  switch (fact.type) {
    case "tree-opened":
      return applyTreeOpened(state, fact);
    case "tree-forked":
      return applyTreeForked(state, fact);
    case "catalog-changed":
      return applyCatalogChanged(state, fact);
    case "rights-changed":
      state.rights = fact.rights;
      return;
    case "message-posted":
      return applyMessagePosted(state, fact, place);
    case "model-replied":
      return applyModelReplied(state, fact);
    case "model-failed":
      return applyModelFailed(state, fact);
    case "usage-learnt":
      return applyUsageLearnt(state, fact);
    case "tool-finished":
      return applyToolFinished(state, fact);
    case "texts-erased":
      return applyTextsErased(state, fact);
    case "timers-due":
      timersDropDue(state.timers, place.at);
      return;
    case "answer-given":
      return applyAnswerGiven(state, fact);
    case "run-asked":
    case "effects-lost":
    case "slots-offered":
    case "cancel-asked":
    case "close-asked":
      return;
    case "turn-started":
      return applyTurnStarted(state, fact);
    case "messages-joined":
      return applyMessagesJoined(state, fact);
    case "model-called":
      return applyModelCalled(state, fact, place);
    case "turn-model-dropped":
      return applyTurnModelDropped(state, fact);
    case "budget-awaited":
      if (!state.budgetQueue.includes(fact.agent)) state.budgetQueue.push(fact.agent);
      return;
    case "limit-neared":
      state.neared.add(fact.limit);
      return;
    case "effect-repeated":
      return applyEffectRepeated(state, fact);
    case "usage-estimated":
      return applyUsageEstimated(state, fact, place);
    case "run-settled":
      return applyRunSettled(state, fact);
    case "model-retry-set":
      return applyModelRetrySet(state, fact);
    case "tool-called":
      return applyToolCalled(state, fact, place);
    case "question-asked":
      return applyQuestionAsked(state, fact, place);
    case "tool-answered":
      return applyToolAnswered(state, fact);
    case "run-created":
      return applyRunCreated(state, fact, place);
    case "run-started":
      return applyRunStarted(state, fact, place);
    case "run-state-changed":
      return applyRunStateChanged(state, fact, place);
    case "run-reported":
      return applyRunReported(state, fact, place);
    case "run-report-refused":
      return applyRunReportRefused(state, fact);
    case "run-ended":
      return applyRunEnded(state, fact, place);
    case "run-undeliverable":
      return applyRunUndeliverable(state, fact);
    case "message-sent":
      return applyMessageSent(state, fact, place);
    case "announcement-queued":
      return applyAnnouncementQueued(state, fact);
    case "barrier-passed":
      return applyBarrierPassed(state, fact);
    case "announcement-blocked":
      return applyAnnouncementBlocked(state, fact);
    case "nudge-given":
      return applyNudgeGiven(state, fact);
    case "channel-sent":
      return applyChannelSent(state, fact);
    case "turn-ended":
      return applyTurnEnded(state, fact);
    case "context-compacted":
      return applyContextCompacted(state, fact);
    case "results-shortened":
      return applyResultsShortened(state, fact);
    case "window-learnt":
      return applyWindowLearnt(state, fact);
    case "erasure-asked":
      return applyErasureAsked(state, fact, place);
    case "tree-closed":
      return applyTreeClosed(state);
  }
}
