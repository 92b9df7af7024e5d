/** The result of one check. */

export type Level = "ok" | "warning" | "broken";

export interface Finding {
  /** The name of the check, in one or two words. */
  readonly name: string;
  /** `warning`: Errand works, but not as it could. `broken`: something will fail. */
  readonly level: Level;
  readonly text: string;
  /** What to do about it. */
  readonly remedy: string | null;
}

export function ok(name: string, text: string): Finding {
  return { name, level: "ok", text, remedy: null };
}

export function warning(name: string, text: string, remedy: string): Finding {
  return { name, level: "warning", text, remedy };
}

export function broken(name: string, text: string, remedy: string): Finding {
  return { name, level: "broken", text, remedy };
}
