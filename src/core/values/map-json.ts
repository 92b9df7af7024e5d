/**
 * JSON text of values that hold maps and sets, and back: for snapshots, and for comparing two folds byte for byte.
 *
 * A map is an object with the member `$map`, a set one with `$set`. Values of models and tools may have such members
 * too, so each of their names that begins with a dollar gets a second dollar, which reading removes.
 */

const MARK = "$";

export function mapsToText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member instanceof Map) return { $map: [...member] };
    if (member instanceof Set) return { $set: [...member] };
    return renamed(member, (name) => MARK + name);
  });
}

/** The inverse. The caller knows the type, because it wrote the text under the same revision. */
export function mapsFromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null) return member;
    if ("$map" in member) return new Map(member.$map as [unknown, unknown][]);
    if ("$set" in member) return new Set(member.$set as unknown[]);
    return renamed(member, (name) => name.slice(MARK.length));
  });
}

/** The object, with each name changed that begins with the mark. */
function renamed(member: unknown, rename: (name: string) => string): unknown {
  if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
  const names = Object.keys(member);
  if (!names.some((name) => name.startsWith(MARK))) return member;
  return Object.fromEntries(
    Object.entries(member).map(([name, value]: [string, unknown]) => [
      name.startsWith(MARK) ? rename(name) : name,
      value,
    ]),
  );
}
