/**
 * Reads what a foreground agent gets: announcements of ended runs (rules D4, D5), messages for the user (C1), and the
 * user's own words.
 *
 * Invariant: headings count only outside frames, so that findings cannot forge a task.
 */

import { type FrameName, frameParse } from "../../core/text/index.ts";

export interface AnnouncedPart {
  /** The name of the run; null if the text has none. */
  readonly name: string | null;
  readonly findings: string;
  /** The problem; null if there was none. */
  readonly trouble: string | null;
}

interface Frames {
  /** The text, with FRAME in place of each frame. */
  readonly outside: string;
  readonly contents: readonly string[];
}

const FRAME = "\0";
const NOT_DONE = "it is not done yet";

export function announcementIs(text: string): boolean {
  return /<findings origin="|^### Task \d+:|^Findings:/m.test(text);
}

/** `names` are those of the started runs. An announcement of one run has its name in the first line. */
export function readAnnouncement(text: string, names: readonly string[]): readonly AnnouncedPart[] {
  const { outside, contents } = framesIn(text, "findings");
  let used = 0;
  const sections = outside.split(/^(?=### Task \d+:)/m).map((section) => {
    const first = used;
    used += section.split(FRAME).length - 1;
    return { section, findings: contents.slice(first, used).join("\n") };
  });
  const several = sections.flatMap(({ section, findings }) => {
    const name = /^### Task \d+: "?(.*?)"?\s*$/m.exec(section)?.[1];
    if (name === undefined || !section.startsWith("### Task")) return [];
    return [{ name, findings, trouble: troubleOf(/^Status: (.*)$/m.exec(section)?.[1] ?? "") }];
  });
  const open = [...outside.matchAll(/^Task "(.*)".*: still running/gm)];
  return [
    ...(several.length > 0 ? several : [singlePart(outside, contents, names)]),
    ...open.map((match) => ({ name: match[1] ?? "", findings: "", trouble: NOT_DONE })),
  ];
}

function singlePart(outside: string, contents: readonly string[], names: readonly string[]): AnnouncedPart {
  const first = outside.split("\n").find((line) => line.replaceAll(FRAME, "").trim() !== "") ?? "";
  const name = names.find((one) => one !== "" && first.includes(one)) ?? /"([^"]+)"/.exec(first)?.[1] ?? null;
  const trouble = troubleOf(name === null ? first : first.replace(name, ""));
  return { name, findings: contents.join("\n"), trouble };
}

/** The contents of all frames of that name. */
export function framedTexts(text: string, name: FrameName): readonly string[] {
  return framesIn(text, name).contents;
}

/** The text without its frames of that name. */
export function outsideFrames(text: string, name: FrameName): string {
  return framesIn(text, name).outside.replaceAll(FRAME, "").trim();
}

/** The text with the contents of its frames of that name, but without their tags. */
export function unframed(text: string, name: FrameName): string {
  const { outside, contents } = framesIn(text, name);
  return outside
    .split(FRAME)
    .flatMap((piece, index) => [piece, contents[index] ?? ""])
    .join("\n")
    .trim();
}

/** Contents of frames cannot contain a closing tag, so a frame ends at the first one. */
function framesIn(text: string, name: FrameName): Frames {
  const contents: string[] = [];
  const frame = new RegExp(`<${name} origin="[^]*?\\n</${name}>`, "g");
  const outside = text.replaceAll(FRAME, "").replaceAll(frame, (whole) => {
    contents.push(frameParse(name, whole)?.text ?? whole);
    return FRAME;
  });
  return { outside, contents };
}

function troubleOf(status: string): string | null {
  if (/timed out/.test(status)) return "it took too long";
  if (/still running/.test(status)) return NOT_DONE;
  if (/was cancelled/.test(status)) return "it was cancelled";
  if (/was interrupted/.test(status)) return "it was interrupted";
  return /\bfailed\b/.test(status) ? "it did not work out" : null;
}
