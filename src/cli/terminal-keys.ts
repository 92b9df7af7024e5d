/** The keyboard of a real terminal. */

import { emitKeypressEvents } from "node:readline";
import type { Key, Keys } from "./host.ts";

/** What the terminal sends for Ctrl-C and Ctrl-Z while it passes every key on. */
const SIGNAL_KEYS: Readonly<Record<string, NodeJS.Signals>> = { "\u0003": "SIGINT", "\u001a": "SIGTSTP" };

/** A key as Node.js reads it. */
interface Pressed {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

export function terminalKeys(stdin: NodeJS.ReadStream): Keys {
  return {
    listen(listener) {
      const typed = (chunk: Buffer): void => {
        for (const key of chunk.toString("utf8")) {
          const signal = SIGNAL_KEYS[key];
          if (signal === undefined) listener(key);
          else raise(signal);
        }
      };
      stdin.setRawMode(true).on("data", typed).resume();
      return () => void stdin.off("data", typed).pause().setRawMode(false);
    },
    listenForEditing(listener) {
      const take = withPastes(listener);
      const pressed = (text: string | undefined, key: Pressed): void => take(text ?? "", key);
      emitKeypressEvents(stdin);
      stdin.setRawMode(true).on("keypress", pressed).resume();
      return () => void stdin.off("keypress", pressed).pause().setRawMode(false);
    },
  };
}

/** Terminals that were asked to put a mark before and after what is pasted. */
function withPastes(listener: (key: Key) => void): (text: string, key: Pressed) => void {
  let pasted: string | null = null;
  return (text, { name = "", sequence = text, ctrl = false, meta = false }) => {
    if (name === "paste-start") pasted = "";
    else if (name === "paste-end") {
      listener({ name: "paste", text: pasted ?? "", ctrl: false, meta: false });
      pasted = null;
    } else if (pasted !== null) pasted += sequence;
    else {
      const signal = SIGNAL_KEYS[sequence];
      if (signal === undefined) listener({ name, text, ctrl, meta });
      else raise(signal);
    }
  };
}

/** Echoes like the terminal would, but at once, so that later typing comes after it. */
function raise(signal: NodeJS.Signals): void {
  if (!process.emit(signal, signal)) process.kill(process.pid, signal);
}
