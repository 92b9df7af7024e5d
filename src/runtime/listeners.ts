/**
 * Listeners of the program. Each is called on its own: what one throws, or rejects with, reaches no other and no
 * caller. It is reported once for each listener.
 */

import { errorText, ErrandError } from "../errors.ts";

/** A listener that never throws. */
export function isolated<Told>(
  name: string,
  listener: (told: Told) => unknown,
  report: (error: ErrandError) => void,
): (told: Told) => void {
  let reported = false;
  const failed = (cause: unknown): void => {
    if (reported) return;
    reported = true;
    report(
      new ErrandError("listener-failed", `A listener of ${name} failed: ${errorText(cause)}`, {
        remedy: "Catch errors inside the listener. It is called again, but its further failures are not reported.",
        cause,
      }),
    );
  };
  return (told) => {
    try {
      const given = listener(told);
      // Also a promise of another realm, which is no instance of this one's class.
      if (typeof given === "object" && given !== null && "then" in given) Promise.resolve(given).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
