/**
 * `npm run soak`: mixed load with faults against real parts. Ends with 1 if something was lost, doubled, stuck, not
 * proven, or grew.
 */

import { commandOptions } from "../support/command-options.ts";
import { SOAK_FAULTS } from "./faults.ts";
import { createPlace } from "./places.ts";
import { soak, type SoakResult } from "./soak.ts";

const NAME = "npm run soak --";
const { minutes, seconds, width, postgres, fault, json } = commandOptions(
  {
    name: NAME,
    does: "Runs many conversations with faults and attached channels, and checks that nothing is lost, doubled, stuck or leaked.",
    examples: ["--minutes 30", "--seconds 20 --json", "--minutes 30 --postgres"],
  },
  {
    minutes: { kind: "count", help: "How long the load lasts.", default: 1 },
    seconds: { kind: "count", help: "The same in seconds, for short ones. Takes the place of --minutes." },
    width: { kind: "count", help: "Conversations at a time.", default: 16 },
    postgres: { kind: "flag", help: "In a PostgreSQL server of its own instead of a SQLite file." },
    fault: { kind: "many", help: `Just these faults, of: ${SOAK_FAULTS.join(", ")}. Default: all.` },
    json: { kind: "flag", help: "The figures as one line of JSON." },
  },
);
const faults = SOAK_FAULTS.filter((known) => fault.length === 0 || fault.includes(known));
const unknown = fault.find((name) => !SOAK_FAULTS.some((known) => known === name));
if (unknown !== undefined) refuse(`--fault knows no "${unknown}".`);
if ((seconds ?? minutes) === 0) refuse("A soak lasts at least a second.");

const place = await createPlace(postgres ? "postgres" : "sqlite");
if (place.disk === null && faults.includes("full-disk"))
  process.stderr.write("No disk can be mounted here: the soak runs without full disks.\n");
try {
  const result = await soak({
    seconds: seconds ?? minutes * 60,
    place,
    faults,
    width,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  process.stdout.write(
    json ? `${JSON.stringify({ store: postgres ? "postgres" : "sqlite", faults, ...result })}\n` : table(result),
  );
  process.exitCode = result.findings.length > 0 ? 1 : 0;
} finally {
  await place.remove();
}

function refuse(problem: string): never {
  process.stderr.write(`errand: ${problem}\nAll options: ${NAME} --help\n`);
  return process.exit(2);
}

function table(result: SoakResult): string {
  const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
  const { heap, descriptors, findings } = result;
  const rows: readonly (readonly [string, string | number])[] = [
    ["seconds", Math.round(result.seconds)],
    ["faults", faults.join(", ")],
    ["conversations", result.conversations],
    ["of which ended by a typed failure", result.failed],
    ["slowest conversation", `${result.slowestMs} ms`],
    ["kills", result.kills],
    ["locks by another connection", result.locks],
    ["full disks", `${result.fullDisks}, with ${result.fullNotices} notices`],
    ["crashes of the server", result.outages],
    ["odd, endless and dripping replies", result.probes],
    ["trees quarantined and released", result.released],
    ["messages that came again under their id", result.repeated],
    ["journals proven", result.proven],
    ["heap", `${megabytes(heap.from)} → ${megabytes(heap.to)}`],
    ["descriptors", `${descriptors.from} → ${descriptors.to}`],
  ];
  const left = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, value]) => `${name.padEnd(left)}  ${value}`);
  const end = findings.length === 0 ? ["everything held"] : findings.map((finding) => `found: ${finding}`);
  return `${[...lines, ...end].join("\n")}\n`;
}
