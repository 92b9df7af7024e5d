/**
 * Path patterns: `*`, `**`, `?`, `[abc]`, `[!a-z]` and `{a,b}`, for rules, for `glob` arguments of tools and for
 * .gitignore.
 *
 * Invariants:
 *  1. Reading a pattern is linear in its length. A pattern longer than GLOB_LENGTH matches nothing; its source must
 *     refuse it.
 *  2. Matching takes at most `cost` steps for each character of a path, so no pattern of a model can hang it.
 *  3. A pattern without a slash matches a name at any depth; one with a slash matches the whole path.
 */

export interface Glob {
  /** `path` is relative, with `/`. */
  matches(path: string): boolean;
  /** Steps for a character of a path, at most. */
  readonly cost: number;
}

type Token =
  | { readonly type: "star" }
  | { readonly type: "any" }
  | { readonly type: "character"; readonly is: (character: string) => boolean };

type Segment = "any-depth" | readonly Token[];

export const GLOB_LENGTH = 1_000;
const ALTERNATIVES_LIMIT = 64;
const NOTHING: Glob = { matches: () => false, cost: 0 };

export function createGlob(pattern: string): Glob {
  if (pattern.length > GLOB_LENGTH) return NOTHING;
  const choices = expandBraces(pattern).map((choice) => {
    const anchored = choice.replace(/^\.?\//, "");
    const names = anchored.split("/").filter((name) => name !== "");
    const segments = names.map((name): Segment => (name === "**" ? "any-depth" : tokens(name)));
    const floating = !choice.includes("/");
    return floating ? (["any-depth", ...segments] satisfies Segment[]) : segments;
  });
  return {
    matches(path) {
      const names = path.split("/").map((name) => [...name]);
      return choices.some((segments) => pathMatches(segments, names));
    },
    cost: choices.reduce((sum, segments) => sum + segments.reduce((part, segment) => part + costOf(segment), 0), 0),
  };
}

/** Without a star a segment is left at the first character that differs. */
function costOf(segment: Segment): number {
  if (segment === "any-depth") return 1;
  return segment.some(({ type }) => type === "star") ? segment.length : 2;
}

/** Which prefixes of the names can be reached after each segment: a table instead of backtracking. */
function pathMatches(segments: readonly Segment[], names: readonly (readonly string[])[]): boolean {
  let reached: boolean[] = names.map(() => false);
  reached.unshift(true);
  for (const segment of segments) {
    const next: boolean[] = reached.map(() => false);
    let any = false;
    for (let index = 0; index <= names.length; index++) {
      if (segment === "any-depth") {
        next[index] = reached[index] === true || next[index - 1] === true;
        any ||= next[index] === true;
        continue;
      }
      const name = names[index];
      if (reached[index] !== true || name === undefined || !nameMatches(segment, name)) continue;
      next[index + 1] = true;
      any = true;
    }
    if (!any) return false;
    reached = next;
  }
  return reached[names.length] === true;
}

/** Goes back to the last star only, which is enough for names. */
function nameMatches(pattern: readonly Token[], name: readonly string[]): boolean {
  let position = 0;
  let at = 0;
  let starAt = -1;
  let resumeAt = 0;
  while (at < name.length) {
    const token = pattern[position];
    const character = name[at] ?? "";
    if (token?.type === "star") {
      starAt = position++;
      resumeAt = at;
    } else if (token !== undefined && (token.type === "any" || token.is(character))) {
      position++;
      at++;
    } else if (starAt >= 0) {
      position = starAt + 1;
      at = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[position]?.type === "star") position++;
  return position === pattern.length;
}

function tokens(name: string): readonly Token[] {
  const characters = [...name];
  const lastClose = characters.lastIndexOf("]");
  const found: Token[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "*") {
      if (found.at(-1)?.type !== "star") found.push({ type: "star" });
    } else if (character === "?") {
      found.push({ type: "any" });
    } else if (character === "[" && index + 2 <= lastClose) {
      const close = characters.indexOf("]", index + 2);
      found.push(characterClass(characters.slice(index + 1, close)));
      index = close;
    } else if (character === "\\" && index + 1 < characters.length) {
      found.push(literal(characters[++index] ?? ""));
    } else {
      found.push(literal(character));
    }
  }
  return found;
}

function literal(wanted: string): Token {
  return { type: "character", is: (character) => character === wanted };
}

function characterClass(members: readonly string[]): Token {
  const negated = members[0] === "!" || members[0] === "^";
  const rest = negated ? members.slice(1) : members;
  const ranges: { readonly from: string; readonly to: string }[] = [];
  for (let index = 0; index < rest.length; index++) {
    const from = rest[index] ?? "";
    const to = rest[index + 2];
    if (rest[index + 1] === "-" && to !== undefined) {
      ranges.push({ from, to });
      index += 2;
    } else {
      ranges.push({ from, to: from });
    }
  }
  return {
    type: "character",
    is: (character) => ranges.some(({ from, to }) => character >= from && character <= to) !== negated,
  };
}

/** `a.{ts,js}` becomes `a.ts` and `a.js`; beyond 64 alternatives, or with an open brace, braces are taken literally. */
function expandBraces(pattern: string): readonly string[] {
  let done: string[] = [pattern];
  for (;;) {
    const next: string[] = [];
    let changed = false;
    for (const choice of done) {
      const group = innermostBraces(choice);
      if (group === null) {
        next.push(choice);
        continue;
      }
      changed = true;
      const before = choice.slice(0, group.open);
      const after = choice.slice(group.close + 1);
      for (const alternative of choice.slice(group.open + 1, group.close).split(","))
        next.push(before + alternative + after);
      if (next.length > ALTERNATIVES_LIMIT) return [pattern];
    }
    if (!changed) return next;
    done = next;
  }
}

/** The first braces that hold a comma and no other braces. */
function innermostBraces(text: string): { readonly open: number; readonly close: number } | null {
  let open = -1;
  let comma = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") {
      open = at;
      comma = false;
    } else if (character === ",") {
      comma = true;
    } else if (character === "}") {
      if (open >= 0 && comma) return { open, close: at };
      open = -1;
    }
  }
  return null;
}
