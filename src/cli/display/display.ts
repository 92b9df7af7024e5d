/**
 * The way a command shows a tree at work. There are three: a picture for a terminal (live.ts), lines for a log (plain.ts), JSON for
 * programs (jsonl.ts).
 *
 * Promises: a display never throws and never waits; `close` may be called at any time, and repeatedly. Why a command failed is told by
 * the command, not by its display, but for programs that read JSON.
 */

import type { SpokenKind } from "../../core/journal/spoken.ts";
import type { ExitCode } from "../exit-code.ts";
import type { Problem } from "../problem.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import type { TreeModel } from "../../view/tree-model.ts";

/** Where the work is done. */
export interface Setting {
  readonly model: string;
  /** Why it is this model. */
  readonly because: string;
  /** The store's path, or `memory`. */
  readonly store: string;
  /** Trees of an earlier process that are taken up on the way. */
  readonly recovered: number;
}

export const NO_SETTING: Setting = { model: "", because: "", store: "", recovered: 0 };

/** Something that an agent said to the user. */
export interface Said {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  readonly kind: SpokenKind;
  readonly text: string;
  /** True: it may have been shown before, by a process that died. */
  readonly repeated: boolean;
}

export interface Ending {
  readonly code: ExitCode;
  readonly outcome: "done" | "failed" | "timeout" | "interrupted" | "terminated" | "parked";
  /** Why it did not end well. */
  readonly problem: Problem | null;
  readonly model: TreeModel;
  /** The tree's time at the end. */
  readonly now: number;
}

export interface ShownQuestion {
  /** The question, sanitised and coloured; null: it stands there already. */
  readonly text: string | null;
  /** How to answer it; empty as long as keys would come too early. */
  readonly choices: readonly string[];
  /** What was typed so far. */
  readonly typed?: string;
}

export interface Display {
  begin(setting: Setting): void;
  changed(model: TreeModel, changes: readonly ReadableEvent[], now: () => number): void;
  /** Something was said. `final`: by the step that brought the tree to rest, so that nothing comes after it. */
  said(said: Said, final: boolean): void;
  /** The turn is over, its runs are not: the command stays until they end (rule D13). */
  draining(runs: number): void;
  /** Something that a person should know now. */
  notice(text: string): void;
  /** A question that the user is asked now and answers by a line; null once that is done. */
  ask(question: ShownQuestion | null): void;
  /** The whole answer (rule D13), of work that ended well; null when the agent decided to say nothing. */
  answer(text: string | null): void;
  end(ending: Ending): void;
  /** Gives back what it holds of the terminal. */
  close(): void;
}
