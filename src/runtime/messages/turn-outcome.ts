/** The outcome of the turn that took a post, read from the step that ended it. */

import type { Decided, Input } from "../../core/event.ts";
import type { PostId } from "../../core/values/ids.ts";
import type { JournalRow, Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { replyPartsOf, replyText } from "../../core/values/message.ts";
import { messageSaid } from "../../core/text/index.ts";
import { bodyRead, headRead } from "../../core/journal/row.ts";
import type { Stepped } from "../../core/tree.ts";
import { ErrandError } from "../../errors.ts";

/** An agent's answer to a message that was waited for. */
export interface Reply {
  /** What the agent answered; empty when it decided to say nothing. */
  readonly text: string;
  /** True when the agent answered NO_REPLY: it was recorded, and nothing was sent to the user. */
  readonly silent: boolean;
}

/** The posts that are answered, or never will be, from these events on. */
export function postsEnded(events: readonly Decided[]): readonly PostId[] {
  let ended = NO_POSTS;
  for (const event of events) {
    const posts = postsOf(event);
    if (posts !== undefined) ended = ended.length === 0 ? posts : [...ended, ...posts];
  }
  return ended;
}

const NO_POSTS: readonly PostId[] = [];

function postsOf(event: Decided): readonly PostId[] | undefined {
  const ends = event.type === "turn-ended" || event.type === "run-ended" || event.type === "tree-closed";
  return ends ? event.posts : undefined;
}

/** A step that ended turns. */
export interface EndingStep {
  readonly seq: number;
  readonly input: Input;
  readonly events: readonly Decided[];
  readonly texts: readonly Json[];
  /** True if only the texts that other agents received are left. */
  readonly erased: boolean;
}

/** As it was just decided. */
export function endingStep({ step, row, decision }: Stepped): EndingStep {
  const texts = [...step.texts, ...decision.texts];
  return { seq: row.seq, input: step.input, events: decision.events, texts, erased: false };
}

/** As the store holds it. */
export function endingRow({ seq, head, body }: JournalRow, sha256: Sha256): EndingStep {
  const { input, events = [], body: written } = headRead(head);
  const erased = written !== undefined && (body === null || sha256(body) !== written);
  return { seq, input, events, texts: bodyRead(body).texts, erased };
}

/** The answer is gone with the texts of its run. */
function erasedAnswer(): ErrandError {
  return new ErrandError("turn-failed", "The answer was erased together with the other texts of its run.", {
    remedy: "Read the run's result; it was told to the parent before.",
    details: { reason: "erased", outcome: "done" },
  });
}

/** The answer to a post. Throws if there is none. */
export function turnReply(step: EndingStep, post: PostId): Reply {
  const outcome = turnOutcome(step, post);
  if (outcome instanceof ErrandError) throw outcome;
  return outcome;
}

function turnOutcome(step: EndingStep, post: PostId): Reply | ErrandError {
  const { seq, events, texts } = step;
  const ended = events.find((event) => postsOf(event)?.includes(post));
  if (ended?.type === "run-ended" || ended?.type === "tree-closed") return closedBefore(ended);
  if (ended?.type !== "turn-ended")
    return new ErrandError("store-corrupt", `Row ${seq} does not end the turn of post ${post}.`);
  if (ended.outcome === "done") return answerOf(ended, step);
  const why = ended.error === undefined ? undefined : texts[ended.error];
  const reason = ended.reason ?? ended.outcome;
  const detail = typeof why === "string" && why !== "" ? `: ${why}` : "";
  return new ErrandError("turn-failed", `The turn ended without an answer (${reason})${detail}.`, {
    remedy: "The message is kept in the conversation; send another one to go on.",
    details: { reason, outcome: ended.outcome },
  });
}

function answerOf(ended: Extract<Decided, { type: "turn-ended" }>, step: EndingStep): Reply | ErrandError {
  const { input, texts, erased } = step;
  const silent = ended.silent === true;
  if (ended.answer !== undefined) {
    const report = texts[ended.answer];
    return typeof report === "string" ? { text: report, silent } : erasedAnswer();
  }
  if (silent || input.type !== "model-replied") return { text: "", silent };
  return erased ? erasedAnswer() : { text: messageSaid(replyText(replyPartsOf(texts[0]))), silent };
}

/** The agent was gone before a turn could answer. */
function closedBefore(ended: Extract<Decided, { type: "run-ended" | "tree-closed" }>): ErrandError {
  const outcome = ended.type === "run-ended" ? ended.status : "closed";
  const reason = ended.type === "run-ended" ? (ended.reason ?? ended.status) : "closed";
  return new ErrandError("turn-failed", `The agent was closed before it answered (${reason}).`, {
    remedy: "Send the message to an agent that is open.",
    details: { reason, outcome },
  });
}
