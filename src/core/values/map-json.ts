/**
 * JSON text of records that hold maps and sets, and back: for snapshots, and for comparing two folds byte for byte.
 *
 * A map is written as an object with the member `$map`, a set with `$set`. Texts of models and tools may have such members too: every name
 * that begins with a dollar gets another one, and loses it again when it is read.
 */

const MARK = "$";

export function mapsToText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member instanceof Map) return { $map: [...member] };
    if (member instanceof Set) return { $set: [...member] };
    return renamed(member, (name) => MARK + name);
  });
}

/** The inverse. The caller knows the type: it wrote the text, under a revision that it checked. */
export function mapsFromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null) return member;
    if ("$map" in member) return new Map(member.$map as [unknown, unknown][]);
    if ("$set" in member) return new Set(member.$set as unknown[]);
    return renamed(member, (name) => name.slice(MARK.length));
  });
}

/** An object whose names that begin with the mark are changed. */
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
