/** The store that a killed process left, with another log, and the world outside as far as it had seen by then. */

import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { type Delivered, evidenceOf, type RecordLine, text } from "./evidence.ts";
import { judgeCrashed } from "./judge-crashed.ts";
import { type Finding, judgeStore } from "./judge.ts";
import { trustCopy } from "../support/trusted-store.ts";
import { finishAll, type Site, siteIn, type SiteOptions } from "./processes.ts";

export function tornSite(killed: Site, folder: string, log: Buffer, seen: readonly RecordLine[]): Site {
  mkdirSync(folder);
  const site = siteIn(folder);
  cpSync(killed.store, site.store);
  trustCopy(killed.store, site.store);
  writeFileSync(`${site.store}-wal`, log);
  const file = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  writeFileSync(site.record, file(seen.map((line) => JSON.stringify(line))));
  writeFileSync(site.toolFile, file(seen.filter((line) => "struck" in line).map((line) => text(line, "struck"))));
  const delivered = seen
    .filter((line) => "delivered" in line)
    .map((line): Delivered => ({
      id: text(line, "delivered"),
      text: text(line, "text"),
      repeated: line["repeated"] === true,
    }));
  writeFileSync(site.channelFile, file(delivered.map((message) => JSON.stringify(message))));
  return site;
}

/** What is missing right away, and what is wrong once the work was taken up and has come to its end. */
export async function judgeTorn(sites: readonly Site[], options: SiteOptions = {}): Promise<readonly Finding[]> {
  const found = async (judging: (site: Site) => Promise<readonly Finding[]>): Promise<Finding[]> => {
    const findings: Finding[] = [];
    for (const site of sites)
      for (const { kind, what } of await judging(site)) findings.push({ kind, what: `${site.folder}: ${what}` });
    return findings;
  };
  const lost = await found((site) => judgeCrashed(site, evidenceOf(site)));
  await finishAll(sites, options);
  return [...lost, ...(await found((site) => judgeStore(site.store, evidenceOf(site))))];
}
