/** Live text of a reply. What could still become NO_REPLY is held back, so that no fragment of it reaches a user (rule A6). */

import { messageNoMessageIs, noMessageCouldBecome } from "../../core/text/index.ts";

export interface HeldText {
  onText(delta: string): void;
  /** The reply is whole: what was held back goes out, unless it was the word itself. */
  end(): void;
}

export function holdBack(onText: (delta: string) => void): HeldText {
  let held: string | null = "";
  return {
    onText(delta) {
      if (held === null) return onText(delta);
      held += delta;
      if (noMessageCouldBecome(held)) return;
      const ready = held;
      held = null;
      onText(ready);
    },
    end() {
      if (held !== null && held !== "" && !messageNoMessageIs(held)) onText(held);
      held = null;
    },
  };
}
