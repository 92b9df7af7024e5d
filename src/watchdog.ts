/**
 * Runs synchronous work until it is done or its time is over: regular expressions that backtrack without end, and code
 * of a schema library. Node offers this only around a script, so the work is entered through a script of one call.
 */

import { createContext, Script } from "node:vm";

/** What came of the work; null if its time was over, or it threw. */
export type Watchdog = <Result>(work: () => Result) => { readonly result: Result } | null;

export function createWatchdog(milliseconds: number): Watchdog {
  const call = { run: (): void => undefined };
  const context = createContext(call);
  const script = new Script("run()");
  return <Result>(work: () => Result): { readonly result: Result } | null => {
    let done: { readonly result: Result } | null = null;
    call.run = () => {
      done = { result: work() };
    };
    try {
      script.runInContext(context, { timeout: milliseconds });
    } catch {
      // Out of time, or a pattern that proves too large only when it is first run.
      return null;
    }
    return done;
  };
}
