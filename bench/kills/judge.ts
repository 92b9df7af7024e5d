/**
 * Judges one killed delegation from outside: by what the model was sent, what the user was shown, and what the tool
 * wrote to its file.
 */

/** What a reply of the scripted model does. Each is needed once, except `no-news`: there was no result to answer. */
export type Step = "delegate" | "acknowledge" | "answer" | "no-news" | "use-tool" | "report";

export interface ModelCall {
  readonly role: "parent" | "child";
  readonly step: Step;
  /** The messages of the request, without the system prompt and its own earlier replies. */
  readonly messages: readonly string[];
  /** True if the whole reply was written before the connection ended. Such a call costs money. */
  readonly finished: boolean;
}

export interface KillLog {
  readonly item: string;
  readonly calls: readonly ModelCall[];
  /** All texts that the user was shown, by both processes. */
  readonly shown: readonly string[];
  /** A line for each time that the tool ran to its end. */
  readonly effects: readonly string[];
  /** The error that ended the second process, or null. */
  readonly error: string | null;
}

export type Ending = "right" | "unknown" | "refused" | "lost";

export interface Verdict {
  /**
   * right: the user was shown the right answer, and the tool ran; unknown: the user was shown that the outcome is
   * unknown; refused: the restart ended in an error; lost: none of these, or no answer in time.
   */
  readonly ending: Ending;
  readonly resultDoubled: boolean;
  readonly effectTwice: boolean;
  /** Finished model calls that were made again. */
  readonly paidAgain: number;
}

export const rightAnswer = (item: string): string => `answer: value of ${item}`;
export const UNKNOWN_ANSWER = "answer: outcome unknown";
/** Every answer of a parent contains this. */
export const isAnswer = (text: string): boolean => text.includes("answer:");

/** @param copies the number of messages that contain the result if nothing is killed */
export function judge({ item, calls, shown, effects, error }: KillLog, copies = 1): Verdict {
  return {
    ending: endingOf(),
    resultDoubled: shown.filter(isAnswer).length > 1 || mostCopies(calls, item) > copies,
    effectTwice: effects.length > 1,
    paidAgain: paidAgain(calls),
  };

  function endingOf(): Ending {
    if (shown.some((text) => text.includes(rightAnswer(item))) && effects.length > 0) return "right";
    if (shown.some((text) => text.includes(UNKNOWN_ANSWER))) return "unknown";
    return error === null ? "lost" : "refused";
  }
}

/** The largest number of messages with the child's result in one request of the parent. */
export function mostCopies(calls: readonly ModelCall[], item: string): number {
  const copies = calls
    .filter(({ role }) => role === "parent")
    .map(({ messages }) => messages.filter((text) => text.includes(`value of ${item}`)).length);
  return Math.max(0, ...copies);
}

function paidAgain(calls: readonly ModelCall[]): number {
  const times = new Map<Step, number>();
  for (const { step, finished } of calls) {
    if (finished && step !== "no-news") times.set(step, (times.get(step) ?? 0) + 1);
  }
  return [...times.values()].reduce((sum, count) => sum + count - 1, 0);
}
