/**
 * How a command shows a tree at work: a picture in a terminal (live.ts), lines for a log (plain.ts), or JSON for
 * programs (jsonl.ts).
 *
 * Promises: a display never throws and never waits; `close` may be called at any time and more than once. Only the JSON
 * display prints why a command failed; otherwise the command itself does.
 */

import type { ExitCode } from "../exit-code.ts";
import type { Problem } from "../problem.ts";
import type { PlacedEvent, TextPiece } from "../../view/readable-event.ts";
import type { TreeModel } from "../../view/tree-model.ts";

export interface WorkSetup {
  readonly model: string;
  /** Why it is this model. */
  readonly because: string;
  /** The store's path, or `memory`. */
  readonly store: string;
  /** How many trees of an earlier process are resumed too. */
  readonly recovered: number;
}

export const NO_SETUP: WorkSetup = { model: "", because: "", store: "", recovered: 0 };

/** A message of an agent to the user: its event, as the channel delivered it. */
export interface UserMessage extends Omit<Extract<PlacedEvent, { type: "message" }>, "type"> {
  /** True: a process that died may have shown it already. */
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
  /** The question, sanitised and coloured; null if it is shown already. */
  readonly text: string | null;
  /** How to answer it; empty while keys are not accepted yet. */
  readonly choices: readonly string[];
  /** What was typed so far. */
  readonly typed?: string;
}

export interface Display {
  begin(setup: WorkSetup): void;
  changed(model: TreeModel, changes: readonly PlacedEvent[], now: () => number): void;
  /** The next part of what an agent is saying. The agent may be a child. */
  text(piece: TextPiece): void;
  /** `final`: the step that sent it brought the tree to rest, so that no message follows. */
  message(message: UserMessage, final: boolean): void;
  /** The turn has ended and its runs have not: the command waits for them (rule D13). */
  draining(runs: number): void;
  /** Nothing in the tree is under way any more. */
  rest(tree: string): void;
  /** Something that the user should know now. */
  notice(text: string): void;
  /** A question that the user answers with a line; null when it is answered. */
  ask(question: ShownQuestion | null): void;
  /** The whole answer (rule D13) of work that ended well; null if the agent decided to say nothing. */
  answer(text: string | null): void;
  end(ending: Ending): void;
  /** Gives the terminal back. */
  close(): void;
}
