/** JSON text of records that hold maps and sets, and back: for snapshots, and for comparing two folds byte for byte. */

export function plainToText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (member instanceof Map) return { $map: [...member] };
    if (member instanceof Set) return { $set: [...member] };
    return member;
  });
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
