/**
 * Owns path patterns: `*`, `**`, `?`, `[abc]`, `[!a-z]` and `{a,b}`, for the tools' `glob` arguments and for .gitignore.
 *
 * Invariants:
 *  1. Matching never backtracks more than pattern length × path length: no pattern a model writes can hang it.
 *  2. A pattern without a slash matches a name at any depth; one with a slash matches the whole path.
 */

export interface Glob {
  /** `path` is relative, with `/`. */
  matches(path: string): boolean;
}

type Token =
  | { readonly type: "star" }
  | { readonly type: "any" }
  | { readonly type: "character"; readonly is: (character: string) => boolean };

type Segment = "any-depth" | readonly Token[];

const ALTERNATIVES_LIMIT = 64;

export function createGlob(pattern: string): Glob {
  const choices = expandBraces(pattern).map((choice) => {
    const anchored = choice.replace(/^\.?\//, "");
    const names = anchored.split("/").filter((name) => name !== "");
    const segments = names.map((name): Segment => (name === "**" ? "any-depth" : tokens(name)));
    const floating = !choice.includes("/");
    return floating ? (["any-depth", ...segments] satisfies Segment[]) : segments;
  });
  return {
    matches(path) {
      const names = path.split("/");
      return choices.some((segments) => pathMatches(segments, names));
    },
  };
}

/** Which prefixes of the names can be reached after each segment: a table instead of backtracking. */
function pathMatches(segments: readonly Segment[], names: readonly string[]): boolean {
  let reached: boolean[] = names.map(() => false);
  reached.unshift(true);
  for (const segment of segments) {
    const next: boolean[] = reached.map(() => false);
    for (let index = 0; index <= names.length; index++) {
      if (segment === "any-depth") {
        next[index] = reached[index] === true || next[index - 1] === true;
        continue;
      }
      const name = names[index];
      if (reached[index] === true && name !== undefined && nameMatches(segment, [...name])) next[index + 1] = true;
    }
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
  const found: Token[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "*") {
      found.push({ type: "star" });
    } else if (character === "?") {
      found.push({ type: "any" });
    } else if (character === "[") {
      const close = characters.indexOf("]", index + 2);
      if (close < 0) {
        found.push(literal("["));
      } else {
        found.push(characterClass(characters.slice(index + 1, close)));
        index = close;
      }
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
      const group = /\{([^{}]*,[^{}]*)\}/.exec(choice);
      if (group === null) {
        next.push(choice);
        continue;
      }
      changed = true;
      const before = choice.slice(0, group.index);
      const after = choice.slice(group.index + group[0].length);
      for (const alternative of (group[1] ?? "").split(",")) next.push(before + alternative + after);
      if (next.length > ALTERNATIVES_LIMIT) return [pattern];
    }
    if (!changed) return next;
    done = next;
  }
}
