/**
 * Live text of a reply. What could still become NO_REPLY, as the whole reply or as its last line, is held back, so that
 * no fragment of it reaches a user (rule A6).
 */

import { messageSaid, noMessageHeld } from "../../core/text/index.ts";

export interface HeldText {
  onText(delta: string): void;
  /** The reply is whole: what was held back goes out, unless it was the word itself. */
  end(): void;
}

export function holdBack(onText: (delta: string) => void): HeldText {
  let held = "";
  let fresh = true;
  const say = (text: string): void => {
    if (text === "") return;
    fresh = false;
    onText(text);
  };
  return {
    onText(delta) {
      held += delta;
      // White space alone decides nothing; a flood of it must not be looked through again and again.
      if (delta.trim() === "") return;
      const ready = held.length - noMessageHeld(held, fresh);
      const text = held.slice(0, ready);
      held = held.slice(ready);
      say(text);
    },
    end() {
      // After a partly streamed reply, the held text begins with the white space before its last line.
      say(messageSaid(held));
      held = "";
    },
  };
}
