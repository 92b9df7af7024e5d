/**
 * What a command sees of the process that it runs in. The real one is process-host.ts.
 *
 * Promises: `out` and `err` never throw, not even when the reader has gone; listeners given to `onSignal` and `onExit`
 * are called until the function that they returned is.
 */

import type { World } from "../contracts/world.ts";
import type { Redactor } from "../runtime/redaction/redactor.ts";
import type { ColourToken } from "./text/colours.ts";

/** Ends a subscription. */
export type Off = () => void;

export type Signal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP" | "SIGCONT";

/** A terminal that can be drawn on. */
export interface Screen {
  /** Writes with the controls of frame.ts, which `out` takes out. */
  draw(text: string): void;
  /** Its size now. */
  size(): { readonly columns: number; readonly rows: number };
  onResize(listener: () => void): Off;
}

/** A keyboard. While somebody listens, what is typed is not shown; Ctrl-C and Ctrl-Z stay the signals that they are. */
export interface Keys {
  listen(listener: (key: string) => void): Off;
  /** The same with keys that have names, and with what is pasted as one. */
  listenForEditing(listener: (key: Key) => void): Off;
}

export interface Key {
  /** `a`, `return`, `up`, `backspace`, `paste`, …; empty for a character that has no name. */
  readonly name: string;
  /** What it writes, if it writes something. */
  readonly text: string;
  readonly ctrl: boolean;
  readonly meta: boolean;
}

export interface Host {
  readonly world: World;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Removes the secrets that the environment configures; what is printed has passed it. */
  readonly redactor: Redactor;
  /** The folder it was started in. */
  readonly folder: string;
  /** The user's home folder. */
  readonly home: string;
  /**
   * For what was asked for: answers, lists, JSON. Colours are printed, every other control but line feed and tab is
   * taken out.
   */
  out(text: string): void;
  /** For what a person wants to know meanwhile: progress, hints, errors. The same holds. */
  err(text: string): void;
  /**
   * Resolves once the reader of `out` has room for more, so that a long output does not pile up here; false when it has
   * gone.
   */
  drained(): Promise<boolean>;
  /** Where `out` goes, when that is a terminal that understands cursor movements; else null. */
  readonly screen: Screen | null;
  /** By which `out` and `err` know the colours that they print; null where they print none. */
  readonly colours: { readonly out: ColourToken; readonly err: ColourToken };
  /** Where standard input comes from, when that is a terminal; else null. */
  readonly keys: Keys | null;
  /** Whether standard input is a pipe, a socket or a file: something that a program or a shell has put there. */
  readonly piped: boolean;
  /** Everything on standard input. */
  readInput(): Promise<string>;
  /** The same, as it comes. */
  input(): AsyncIterable<Uint8Array>;
  onSignal(signal: Signal, listener: () => void): Off;
  /** Called when the process ends, however it does. Only synchronous work is done then. */
  onExit(listener: () => void): Off;
  /** Stops the process as Ctrl-Z does. */
  suspend(): void;
  /** Ends the process once all that was written is on its way, even if something that was given up still holds it. */
  end(code: number): void;
  /** Ends the process now. */
  leave(code: number): void;
}
