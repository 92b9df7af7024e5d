/** What is in the folder: its main folders with their files by kind. */

import type { Inquiry } from "../conversation.ts";
import { byCount, type FolderCount, type Listing, NO_EXTENSION, tally } from "../tool-outputs.ts";
import { listed } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";

const FOLDERS_SHOWN = 8;
const KINDS_SHOWN = 3;
const INSIDE_SHOWN = 8;

export function mapInquiry(listing: Listing): Inquiry {
  return { actions: [], findings: () => findingsOf(listing) };
}

function findingsOf(listing: Listing): readonly string[] {
  if (listing.files === 0) return ["- the folder holds no files"];
  const folders = [...listing.counts]
    .filter(([folder]) => folder !== "./")
    .toSorted((left, right) => right[1].files - left[1].files || (left[0] < right[0] ? -1 : 1));
  const shown = folders.slice(0, FOLDERS_SHOWN);
  const width = Math.max(0, ...shown.map(([folder]) => folder.length));
  const lines = shown.map(
    ([folder, counted]) =>
      `- ${folder.padEnd(width)}  ${countLabel(counted.files, "file")}${kinds(counted)}${inside(listing, folder)}`,
  );
  if (folders.length > FOLDERS_SHOWN)
    lines.push(`- and ${countLabel(folders.length - FOLDERS_SHOWN, "smaller folder")}`);
  return [
    `- ${countLabel(listing.files, "file")} in ${countLabel(listing.folders, "folder")}`,
    ...lines,
    ...topLevel(listing),
  ];
}

function kinds(counted: FolderCount): string {
  const most = byCount(counted.kinds).slice(0, KINDS_SHOWN);
  const words = most.map(([kind, number]) => `${number} ${kind === NO_EXTENSION ? "without extension" : kind}`);
  return ` (${words.join(", ")})`;
}

/** The folders in a folder, the fullest first. */
function inside({ paths }: Listing, folder: string): string {
  const children = paths.flatMap((path) =>
    path.startsWith(folder) ? (/^([^/]+)\//.exec(path.slice(folder.length))?.[1] ?? []) : [],
  );
  const names = byCount(tally(children)).map(([name, number]) => `${name} ${number}`);
  return names.length === 0 ? "" : `: ${listed(names, INSIDE_SHOWN)}`;
}

function topLevel({ paths }: Listing): readonly string[] {
  const names = paths.filter((path) => !path.includes("/"));
  if (names.length === 0) return [];
  const visible = names.filter((name) => !name.startsWith("."));
  const shown = (visible.length > 0 ? visible : names).slice(0, INSIDE_SHOWN);
  const rest = names.length - shown.length;
  return [`- at the top: ${shown.join(", ")}${rest > 0 ? ` and ${countLabel(rest, "other file")}` : ""}`];
}
