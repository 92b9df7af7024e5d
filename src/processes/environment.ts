/**
 * The environment of outside processes is an allow-list: variables that programs need and that hold no secrets by
 * custom, and those that a trusted definition or the host names. No other variable of this process is passed on.
 */

/** Variables of an environment by their names. */
export type Variables = Readonly<Record<string, string | undefined>>;

const USUAL_NAMES =
  "PATH HOME USER LOGNAME SHELL TERM TMPDIR TZ LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME";

/** Where programs are searched if there is no PATH. */
export const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

/** The variables of the allow-list that have a value. */
export function allowedVariables(own: Variables, named: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...USUAL_NAMES.split(" "), ...named].flatMap((name) => {
      const value = own[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
