/**
 * What a command sees of the process that it runs in. The real one is process-host.ts.
 *
 * Promises: `out` and `err` never throw, not even when the reader has gone. Listeners given to `onSignal` and `onExit`
 * are called until the returned function is called.
 */

import type { World } from "../contracts/world.ts";
import type { Redactor } from "../runtime/redaction/redactor.ts";
import type { ColourToken } from "./text/colours.ts";

/** Ends a subscription. */
export type Off = () => void;

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP" | "SIGCONT";

/** A terminal that can be drawn on. */
export interface Screen {
  /** Writes with the controls of frame.ts, which `out` removes. */
  draw(text: string): void;
  /** Its size now. */
  size(): { readonly columns: number; readonly rows: number };
  onResize(listener: () => void): Off;
}

/** A keyboard. While a listener is set, typed keys are not shown. Ctrl-C and Ctrl-Z still send their signals. */
export interface Keys {
  listen(listener: (key: string) => void): Off;
  /** The same with keys that have names. A pasted text is one key. */
  listenForEditing(listener: (key: Key) => void): Off;
}

export interface Key {
  /** `a`, `return`, `up`, `backspace`, `paste`, …; empty for a character that has no name. */
  readonly name: string;
  /** The text that the key types; empty if it types none. */
  readonly text: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
}

export interface Host {
  readonly world: World;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Removes the secrets that the environment configures from everything that is printed. */
  readonly redactor: Redactor;
  /** The folder it was started in. */
  readonly folder: string;
  /** The user's home folder. */
  readonly home: string;
  /**
   * Prints the requested output: answers, lists, JSON. Removes every control character except colours, line feed and
   * tab.
   */
  out(text: string): void;
  /** Prints what a person wants to know meanwhile: progress, hints, errors. Removes the same. */
  err(text: string): void;
  /**
   * Resolves when the reader of `out` has room for more, so that a long output does not pile up in memory; with false
   * if the reader has gone.
   */
  drained(): Promise<boolean>;
  /** The terminal of `out`, if it understands cursor movements; else null. */
  readonly screen: Screen | null;
  /** The token of the colours that `out` and `err` print; null if they print none. */
  readonly colours: { readonly out: ColourToken; readonly err: ColourToken };
  /** The keyboard, if standard input is a terminal; else null. */
  readonly keys: Keys | null;
  /** True if standard input is a pipe, a socket or a file: a program or a shell has connected it. */
  readonly piped: boolean;
  /** Everything on standard input. */
  readInput(): Promise<string>;
  /** The same, piece by piece. */
  input(): AsyncIterable<Uint8Array>;
  onSignal(signal: Signal, listener: () => void): Off;
  /** Called when the process ends for any reason. Only synchronous work is possible then. */
  onExit(listener: () => void): Off;
  /** Stops the process as Ctrl-Z does. */
  suspend(): void;
  /** Ends the process after all output was written, even if abandoned work still keeps it alive. */
  end(code: number): void;
  /** Ends the process now. */
  leave(code: number): void;
}
