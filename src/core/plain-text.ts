/** JSON text of records that hold maps and sets, and back: for snapshots, and for comparing two folds byte for byte. */

/**
 * A map is an object with the member `$map`, a set one with `$set`. What models and tools write may have such members too: each name that
 * begins with a dollar gets another one, and loses it when it is read.
 */
const MARK = "$";

export function plainToText(value: unknown): string {
  return JSON.stringify(plainOf(value));
}

/** The value without maps and sets, which a replacer would write too, but at half as much again for every member that is neither. */
function plainOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Map) return { $map: [...value].map(plainOf) };
  if (value instanceof Set) return { $set: [...value] };
  if (Array.isArray(value)) return value.map(plainOf);
  const members = value as Readonly<Record<string, unknown>>;
  for (const key in members) if (key.startsWith(MARK) || key === "__proto__") return plainMembers(members);
  let changed: Record<string, unknown> | null = null;
  for (const key in members) {
    const member = members[key];
    const plain = plainOf(member);
    if (plain !== member) (changed ??= { ...members })[key] = plain;
  }
  return changed ?? value;
}

/** Member by member: a name may change, and `__proto__` must stay a name. */
function plainMembers(members: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => [key.startsWith(MARK) ? MARK + key : key, plainOf(member)]),
  );
}

/** The inverse. The caller knows the type because it wrote the text, under a revision that is checked before. */
export function plainFromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    for (const key in member) if (key.startsWith(MARK)) return markedRead(member as Readonly<Record<string, unknown>>);
    return member;
  });
}

function markedRead(members: Readonly<Record<string, unknown>>): unknown {
  const { $map: entries, $set: values } = members;
  if (entries !== undefined) return new Map(entries as [unknown, unknown][]);
  if (values !== undefined) return new Set(values as unknown[]);
  return Object.fromEntries(
    Object.entries(members).map(([key, member]) => [key.startsWith(MARK) ? key.slice(MARK.length) : key, member]),
  );
}
