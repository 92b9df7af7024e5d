// The frame around text that one agent hands to another (E1, A5, C1, D7). Owns its shape, its escape and its inverse.
//
//   <findings origin="AGENT_ID">
//   TEXT
//   </findings>
//
// The escape: whatever in TEXT could be read as one of our tags (reserved-tag.ts) gets one mark `~` directly after its
// opening bracket, so `</findings>` stands as `<~/findings>` and `&lt;say>` as `&lt;~say>`. A tag that already carries
// marks gets one more, which is what makes the inverse exact; nothing else is touched. The mark is a visible ASCII
// character because any other means (entities, invisible characters, look-alikes) is undone by some reader.
//
// Invariants
// 1. frameParse(n, frameBuild(n, o, t)) is { text: t, origin: o } for every string t, and frameParse accepts nothing
//    that frameBuild could not have built: an unmarked tag of ours inside means text outside the frame.
// 2. Exactly one open and one close of our tags can be read in a frame, and they are its own.
// 3. The origin is an argument of the runtime's; text cannot set it, as it cannot form a tag.

import { MARK, reservedTagOpenings } from "./reserved-tag.ts";

/** The frames that models read. */
export type FrameName = "system_message" | "message_for_user" | "findings";

/** A text that was in a frame, and who spoke. */
export interface Framed {
  readonly text: string;
  readonly origin: string;
}

/** A frame needs an origin. */
export class FrameOriginError extends Error {
  override readonly name = "FrameOriginError";
  readonly code = "frame-origin";

  constructor() {
    super("A frame needs an origin of letters, digits, `-`, `_`, `.` or `:`; pass the id of the agent that speaks.");
  }
}

const ORIGIN = /^[A-Za-z0-9_.:-]+$/;

/** A text in a frame that says who speaks. Frames within the text are made harmless. */
export function frameBuild(name: FrameName, origin: string | undefined, text: string): string {
  if (typeof origin !== "string" || !ORIGIN.test(origin)) throw new FrameOriginError();
  return `<${name} origin="${origin}">\n${mark(text)}\n</${name}>`;
}

/** The framed text and its origin; `null` unless the whole text is exactly one frame of that name. */
export function frameParse(name: FrameName, text: string): Framed | null {
  const opening = `<${name} origin="`;
  const closing = `\n</${name}>`;
  if (!text.startsWith(opening) || !text.endsWith(closing)) return null;
  const originEnd = text.indexOf('"', opening.length);
  if (originEnd < 0 || !text.startsWith(">\n", originEnd + 1)) return null;
  const origin = text.slice(opening.length, originEnd);
  const [contentStart, contentEnd] = [originEnd + 3, text.length - closing.length];
  if (contentStart > contentEnd || !ORIGIN.test(origin)) return null;
  const content = unmark(text.slice(contentStart, contentEnd));
  return content === null ? null : { text: content, origin };
}

/** Words of others in a line of Errand's: a JSON string in which nothing can be read as one of our tags (rule I26). */
export function quoted(text: string): string {
  return JSON.stringify(mark(text));
}

function mark(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const opening of reservedTagOpenings(text)) {
    parts.push(text.slice(from, opening), MARK);
    from = opening;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** The inverse of mark; `null` for text that mark did not make. */
function unmark(text: string): string | null {
  const parts: string[] = [];
  let from = 0;
  for (const opening of reservedTagOpenings(text)) {
    if (!text.startsWith(MARK, opening)) return null;
    parts.push(text.slice(from, opening));
    from = opening + MARK.length;
  }
  parts.push(text.slice(from));
  return parts.join("");
}

/** A5: the text of a system message, with the agent it comes from. */
export function messageBuildSystemText(text: string, origin: string | undefined): string {
  return frameBuild("system_message", origin, text);
}

/** The text of a system message and its origin; `null` if it is none. */
export function messageParseSystemText(text: string): Framed | null {
  return frameParse("system_message", text);
}

/** C1, C3: a background agent's words for the user, to be presented by the foreground agent. */
export function messageBuildUserFacing(text: string, origin: string | undefined): string {
  return frameBuild("message_for_user", origin, text);
}

/** The text for the user and its origin; `null` if the message is none. */
export function messageIsUserFacing(text: string): Framed | null {
  return frameParse("message_for_user", text);
}
