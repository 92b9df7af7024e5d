/** Real timers. */

import type { Timers } from "./end-processes.ts";

export const timers: Timers = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};
