/** JSON text of records that hold maps and sets, and back: for snapshots, and for comparing two folds byte for byte. */

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
  let changed: Record<string, unknown> | null = null;
  for (const key in members) {
    const member = members[key];
    const plain = plainOf(member);
    if (plain !== member) (changed ??= { ...members })[key] = plain;
  }
  return changed ?? value;
}

/** The inverse. The caller knows the type because it wrote the text, under a revision that is checked before. */
export function plainFromText(text: string): unknown {
  return JSON.parse(text, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null) return member;
    if ("$map" in member && Array.isArray(member.$map)) return new Map(member.$map as [unknown, unknown][]);
    if ("$set" in member && Array.isArray(member.$set)) return new Set(member.$set as unknown[]);
    return member;
  });
}
