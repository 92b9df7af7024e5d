/** What came of the turn that took a post, told by the step that ended it. */

import type { Decided, Input, ReportPlace } from "../../core/event.ts";
import type { PostId } from "../../core/ids.ts";
import type { JournalRow, Sha256 } from "../../core/journal.ts";
import { type Json, jsonObjectIs } from "../../core/json.ts";
import { replyPartsOf, replyText } from "../../core/message.ts";
import { messageSaid, tagExtract } from "../../core/text/index.ts";
import { bodyRead, headRead } from "../../core/row.ts";
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
  /** True: what is left of its texts is what other agents were told. */
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

/** Where the report stands that answers the post, if it is a child's report by tool. */
export function answerPlace({ events }: EndingStep, post: PostId): ReportPlace | null {
  const ended = events.find((event) => postsOf(event)?.includes(post));
  return ended?.type === "turn-ended" ? (ended.answer ?? null) : null;
}

/** The words of the report that stands in a reply's row. */
export function reportOfRow({ body }: JournalRow, call: string): Reply | ErrandError {
  const part = replyPartsOf(bodyRead(body).texts[0]).find((given) => given.type === "tool-call" && given.id === call);
  if (part?.type !== "tool-call") return erasedAnswer();
  const text = jsonObjectIs(part.input) ? part.input["text"] : undefined;
  return { text: typeof text === "string" ? text : "", silent: false };
}

/** The answer is gone with the texts of its run. */
function erasedAnswer(): ErrandError {
  return new ErrandError("turn-failed", "The answer was erased together with the other texts of its run.", {
    remedy: "Read the run's result; it was told to the parent before.",
    details: { reason: "erased", outcome: "done" },
  });
}

export function turnOutcome({ seq, input, events, texts, erased }: EndingStep, post: PostId): Reply | ErrandError {
  const ended = events.find((event) => postsOf(event)?.includes(post));
  if (ended?.type === "run-ended" || ended?.type === "tree-closed") return closedBefore(ended);
  if (ended?.type !== "turn-ended")
    return new ErrandError("store-corrupt", `Row ${seq} does not end the turn of post ${post}.`);
  if (ended.outcome === "done") {
    const silent = ended.silent === true;
    // The report of a run that reports by tag is kept when its other words are erased.
    if (!silent && input.type === "model-replied" && erased && ended.tagged !== true) return erasedAnswer();
    const text = silent || input.type !== "model-replied" ? "" : replyText(replyPartsOf(texts[0]));
    // Of a run that reports by tag the report is the answer, not what stands around it.
    return { text: ended.tagged === true ? (tagExtract(text, "response") ?? "") : messageSaid(text), silent };
  }
  const why = ended.error === undefined ? undefined : texts[ended.error];
  const reason = ended.reason ?? ended.outcome;
  const detail = typeof why === "string" && why !== "" ? `: ${why}` : "";
  return new ErrandError("turn-failed", `The turn ended without an answer (${reason})${detail}.`, {
    remedy: "The message is kept in the conversation; send another one to go on.",
    details: { reason, outcome: ended.outcome },
  });
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
