/** Colours for a terminal, or functions that add none. */

import picocolors from "picocolors";

export type Colours = ReturnType<typeof picocolors.createColors>;

export function createColours(enabled: boolean): Colours {
  return picocolors.createColors(enabled);
}
