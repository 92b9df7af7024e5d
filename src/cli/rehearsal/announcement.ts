/**
 * Owns the reading of what a foreground agent is told: announcements of ended runs (D4, D5), messages for the user (C1), and
 * plain words of the user.
 *
 * Invariants:
 *  1. Headings count only outside frames: a finding cannot forge a task.
 *  2. Whatever an announcement's exact wording, its findings are found by their frames.
 */

import { type FrameName, frameParse } from "../../core/text/index.ts";

export interface AnnouncedPart {
  /** The run's name, or null where the text has none. */
  readonly name: string | null;
  readonly findings: string;
  /** What is wrong with it, or null if it ended well. */
  readonly trouble: string | null;
}

const NOT_DONE = "it is not done yet";

interface Section {
  readonly name: string | null;
  readonly findings: string[];
  outside: string;
}

interface Piece {
  readonly framed: boolean;
  readonly text: string;
}

export function announcementIs(text: string): boolean {
  return /<findings origin="/.test(text) || /^### Task \d+:/m.test(text) || /^Findings:/m.test(text);
}

/** `names` are those under which the runs were started, for an announcement that has its name only in its first line. */
export function readAnnouncement(text: string, names: readonly string[]): readonly AnnouncedPart[] {
  let current: Section = { name: null, findings: [], outside: "" };
  const sections = [current];
  for (const piece of pieces(text, "findings")) {
    if (piece.framed) {
      current.findings.push(piece.text);
      continue;
    }
    for (const chunk of piece.text.split(/^(?=### Task \d+:)/m)) {
      const heading = /^### Task \d+: "?(.*?)"?\s*$/m.exec(chunk);
      if (heading === null || !chunk.startsWith("### Task ")) {
        current.outside += chunk;
        continue;
      }
      current = { name: heading[1] ?? "", findings: [], outside: chunk };
      sections.push(current);
    }
  }
  const named = sections.filter((section) => section.name !== null);
  const ended = named.length > 0 ? named.map(partOfSeveral) : sections.map((section) => onlyPart(section, names));
  const outside = sections.map((section) => section.outside).join("\n");
  const open = [...outside.matchAll(/^Task "(.*)".*: still running/gm)];
  return [...ended, ...open.map((match) => ({ name: match[1] ?? "", findings: "", trouble: NOT_DONE }))];
}

function partOfSeveral({ name, findings, outside }: Section): AnnouncedPart {
  return { name, findings: findings.join("\n"), trouble: troubleOf(/^Status: (.*)$/m.exec(outside)?.[1] ?? "") };
}

/** D4: the first line has both the name and the status. */
function onlyPart({ findings, outside }: Section, names: readonly string[]): AnnouncedPart {
  const first = outside.split("\n").find((line) => line.trim() !== "" && !line.startsWith("<")) ?? "";
  const name =
    names.find((candidate) => candidate !== "" && first.includes(candidate)) ?? /"([^"]+)"/.exec(first)?.[1] ?? null;
  return { name, findings: findings.join("\n"), trouble: troubleOf(name === null ? first : first.replace(name, "")) };
}

/** The contents of all frames of that name, in order. */
export function framedTexts(text: string, name: FrameName): readonly string[] {
  return pieces(text, name).flatMap((piece) => (piece.framed ? [piece.text] : []));
}

/** The text without its frames of that name: the user's own words. */
export function outsideFrames(text: string, name: FrameName): string {
  return pieces(text, name)
    .flatMap((piece) => (piece.framed ? [] : [piece.text]))
    .join("")
    .trim();
}

/** What was said, inside frames of that name and outside, without the frames. */
export function unframed(text: string, name: FrameName): string {
  return pieces(text, name)
    .map((piece) => piece.text)
    .join("\n")
    .trim();
}

/** Frames cannot hold an unmarked closing tag, so the first one is theirs. */
function pieces(text: string, name: FrameName): readonly Piece[] {
  const found: Piece[] = [];
  const opening = `<${name} origin="`;
  const closing = `\n</${name}>`;
  let from = 0;
  for (;;) {
    const start = text.indexOf(opening, from);
    const end = start < 0 ? -1 : text.indexOf(closing, start);
    if (end < 0) break;
    if (start > from) found.push({ framed: false, text: text.slice(from, start) });
    const whole = text.slice(start, end + closing.length);
    const inside = whole.slice(whole.indexOf(">\n") + 2, -closing.length);
    found.push({ framed: true, text: frameParse(name, whole)?.text ?? inside });
    from = end + closing.length;
  }
  if (from < text.length) found.push({ framed: false, text: text.slice(from) });
  return found;
}

function troubleOf(status: string): string | null {
  if (/timed out/.test(status)) return "it took too long";
  if (/still running/.test(status)) return NOT_DONE;
  if (/was cancelled/.test(status)) return "it was cancelled";
  if (/was interrupted/.test(status)) return "it was interrupted";
  return /\bfailed\b/.test(status) ? "it did not work out" : null;
}
