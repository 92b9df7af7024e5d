/** Live text of a reply. What could still become NO_REPLY is held back, so that no fragment of it reaches a user (rule A6). */

import { noMessageCouldBecome } from "../core/text/index.ts";

export function holdBack(onText: (delta: string) => void): (delta: string) => void {
  let held: string | null = "";
  return (delta) => {
    if (held === null) return onText(delta);
    held += delta;
    if (noMessageCouldBecome(held)) return;
    const ready = held;
    held = null;
    onText(ready);
  };
}
