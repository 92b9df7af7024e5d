/**
 * Judges one killed delegation from outside: by what the model was sent, what the user was shown, and what the tool
 * left in its file.
 */

/** What a reply of the scripted model does. Each is needed once, except `no-news`: it was asked and has no result. */
export type Step = "delegate" | "acknowledge" | "answer" | "no-news" | "use-tool" | "report";

export interface ModelCall {
  readonly role: "parent" | "child";
  readonly step: Step;
  /** What it was sent, without its system prompt and its own earlier replies. */
  readonly told: readonly string[];
  /** True if the whole reply had been written when the connection ended: a call that costs money. */
  readonly finished: boolean;
}

export interface KillLog {
  readonly item: string;
  readonly calls: readonly ModelCall[];
  /** All that the user was shown, in both lives of the process. */
  readonly shown: readonly string[];
  /** A line for each time that the tool did its work. */
  readonly effects: readonly string[];
  /** Why the second life ended in an error; null if it did not. */
  readonly error: string | null;
}

export type Ending = "right" | "unknown" | "refused" | "lost";

export interface Verdict {
  /**
   * right: the user was shown the right answer, and the tool did its work; unknown: the user was told that the outcome
   * is unknown; refused: the restart ended in an error; lost: none of these, or no answer in time.
   */
  readonly ending: Ending;
  readonly resultDoubled: boolean;
  readonly effectTwice: boolean;
  /** Finished model calls that were made again. */
  readonly paidAgain: number;
}

export const rightAnswer = (item: string): string => `answer: value of ${item}`;
export const UNKNOWN_ANSWER = "answer: outcome unknown";
/** What every answer of a parent begins with. */
export const isAnswer = (text: string): boolean => text.includes("answer:");

/** @param copies in how many messages the parent reads the result when nothing is killed */
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

/** The most messages with the child's result that one request of the parent held. */
export function mostCopies(calls: readonly ModelCall[], item: string): number {
  const copies = calls
    .filter(({ role }) => role === "parent")
    .map(({ told }) => told.filter((text) => text.includes(`value of ${item}`)).length);
  return Math.max(0, ...copies);
}

function paidAgain(calls: readonly ModelCall[]): number {
  const times = new Map<Step, number>();
  for (const { step, finished } of calls) {
    if (finished && step !== "no-news") times.set(step, (times.get(step) ?? 0) + 1);
  }
  return [...times.values()].reduce((sum, count) => sum + count - 1, 0);
}
