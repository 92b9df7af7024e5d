/** Owns the question what there is in the folder: its main folders with their files by kind. */

import { byCount, type FolderCount, LIST_ALL, type Listing, listingOf, nameOf, tally } from "../listing.ts";
import { count } from "../wording.ts";
import type { Inquiry } from "./inquiry.ts";

const FOLDERS_SHOWN = 8;
const KINDS_SHOWN = 3;
const INSIDE_SHOWN = 8;

export function createMapInquiry(): Inquiry {
  return {
    actions: () => [LIST_ALL],
    findings(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [];
      if (listing.files === 0) return ["- the folder holds no files"];
      const folders = [...listing.counts]
        .filter(([folder]) => folder !== "./")
        .toSorted((left, right) => right[1].files - left[1].files || (left[0] < right[0] ? -1 : 1));
      const shown = folders.slice(0, FOLDERS_SHOWN);
      const width = Math.max(0, ...shown.map(([folder]) => folder.length));
      return [
        `- ${count(listing.files, "file")} in ${count(listing.folders, "folder")}`,
        ...shown.map(
          ([folder, counted]) =>
            `- ${folder.padEnd(width)}  ${count(counted.files, "file")}${kinds(counted)}${inside(listing, folder)}`,
        ),
        ...(folders.length > FOLDERS_SHOWN ? [`- and ${count(folders.length - FOLDERS_SHOWN, "smaller folder")}`] : []),
        ...topLevel(listing),
      ];
    },
  };
}

function kinds(counted: FolderCount): string {
  const most = byCount(counted.kinds).slice(0, KINDS_SHOWN);
  return ` (${most.map(([kind, number]) => (kind === "no extension" ? `${number} without extension` : `${number} ${kind}`)).join(", ")})`;
}

/** The folders of a folder, the fullest first. */
function inside(listing: Listing, folder: string): string {
  const children = listing.paths.flatMap((path) =>
    path.startsWith(folder) ? (/^([^/]+)\//.exec(path.slice(folder.length))?.[1] ?? []) : [],
  );
  const counted = byCount(tally(children));
  if (counted.length === 0) return "";
  const shown = counted.slice(0, INSIDE_SHOWN).map(([name, number]) => `${name} ${number}`);
  return `: ${shown.join(", ")}${counted.length > INSIDE_SHOWN ? ", …" : ""}`;
}

function topLevel(listing: Listing): readonly string[] {
  const names = listing.paths.filter((path) => !path.includes("/")).map(nameOf);
  if (names.length === 0) return [];
  const visible = names.filter((name) => !name.startsWith("."));
  const shown = (visible.length > 0 ? visible : names).slice(0, INSIDE_SHOWN);
  const rest = names.length - shown.length;
  return [`- at the top: ${shown.join(", ")}${rest > 0 ? ` and ${count(rest, "other file")}` : ""}`];
}
