/** The environment that registry and defaults are given: they never look at the process's own. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** The first of these variables that says something, and which it is. */
export function firstOf(
  env: Environment,
  names: readonly string[],
): { readonly name: string; readonly value: string } | null {
  for (const name of names) {
    const value = env[name]?.trim() ?? "";
    if (value !== "") return { name, value };
  }
  return null;
}
