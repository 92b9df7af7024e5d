/**
 * `npm run bench -- --cost`: model calls, prompt tokens and bytes of a delegation, counted by a local model server.
 * Each delegation is a fresh process. The speed of the machine has no influence.
 */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = join(import.meta.dirname, "cost");
/** Random ids differ in their number of tokens. An announcement is measured this often, and the largest counts. */
const ANNOUNCEMENTS = 8;

interface Delegation {
  readonly contender: string;
  readonly background: boolean;
  readonly reporting: "final" | "tool" | "tag" | "text";
  readonly runs?: number;
}

export interface Cost {
  readonly calls: number;
  readonly tokens: number;
  readonly bytes: number;
  /** Tokens in every request of a parent and of a child, without the user's words. */
  readonly parent: number;
  readonly child: number;
  readonly announcement: number;
}

export interface CostRow {
  readonly title: string;
  readonly awaited: Cost;
  readonly background: Cost;
}

/** Rows of contenders, and the tokens of announcements of 1, 2 and 10 runs. */
export interface Costs {
  readonly rows: readonly CostRow[];
  readonly announcements: readonly (readonly [runs: number, tokens: number, limit: number])[];
}

const ROWS: readonly (readonly [title: string, contender: string, reporting: Delegation["reporting"]])[] = [
  ["**Errand**, `final` report (what children are told)", "errand", "final"],
  ["**Errand**, report without `final`", "errand", "tool"],
  ["**Errand**, `reporting: tag`", "errand", "tag"],
  ["pi-agent-core", "pi", "text"],
  ["ai", "ai", "text"],
  ["@openai/agents", "openai-agents", "text"],
  ["langgraph", "langgraph", "text"],
  ["deepagents", "deepagents", "text"],
  ["@mastra/core", "mastra", "text"],
];

export async function costs(only: readonly string[], say: (line: string) => void): Promise<Costs> {
  const rows: CostRow[] = [];
  for (const [title, contender, reporting] of ROWS) {
    if (only.length > 0 && !only.includes(contender)) continue;
    const awaited = await measured({ contender, background: false, reporting });
    const background = await measured({ contender, background: true, reporting });
    rows.push({ title, awaited, background });
    say(`${title}: ${JSON.stringify({ awaited, background })}`);
  }
  if (only.length > 0 && !only.includes("errand")) return { rows, announcements: [] };
  const announcements: [number, number, number][] = [];
  for (const [runs, limit] of [
    [1, 90],
    [2, 180],
    [10, 700],
  ] as const) {
    let tokens = 0;
    for (let time = 0; time < ANNOUNCEMENTS; time += 1) {
      const cost = await measured({ contender: "errand", background: true, reporting: "final", runs });
      tokens = Math.max(tokens, cost.announcement);
    }
    announcements.push([runs, tokens, limit]);
    say(`announcement of ${runs}: ${tokens} tokens at most`);
  }
  return { rows, announcements };
}

async function measured(delegation: Delegation): Promise<Cost> {
  const { stdout } = await run(process.execPath, [join(here, "measure.mjs"), JSON.stringify(delegation)], {
    cwd: here,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "{}") as Cost;
}

export function costTable({ rows, announcements }: Costs): string {
  return [
    "| | awaited: calls | tokens | bytes | background: calls | tokens | bytes | standing, parent | standing, child |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...rows.map(({ title, awaited, background }) => {
      const cells = [awaited, background].flatMap(({ calls, tokens, bytes }) => [calls, tokens, bytes]);
      return `| ${title} | ${[...cells, awaited.parent, awaited.child].map(whole).join(" | ")} |`;
    }),
    "",
    "| to reach | reached | |",
    "|---|---|---|",
    ...aims(rows, announcements).map(
      ([aim, reached, held]) => `| ${aim} | ${reached} | ${held ? "held" : "**missed**"} |`,
    ),
  ].join("\n");
}

type Aim = readonly [aim: string, reached: string, held: boolean];

function aims([errand, ...others]: readonly CostRow[], announcements: Costs["announcements"]): readonly Aim[] {
  if (errand === undefined || announcements.length === 0) return [];
  const peers = others.filter(({ title }) => !title.includes("Errand"));
  const least = (mode: "awaited" | "background"): number => Math.min(...peers.map((peer) => peer[mode].calls));
  const { awaited, background } = errand;
  return [
    [
      "no more model calls than any peer",
      `${awaited.calls} awaited, ${background.calls} in the background; ` +
        `the peers' fewest are ${least("awaited")}, and ${least("background")} by hand`,
      awaited.calls <= least("awaited") && background.calls <= least("background"),
    ],
    ["standing overhead of a parent ≤ 800 tokens", `${awaited.parent}`, awaited.parent <= 800],
    ["standing overhead of a child ≤ 450 tokens", `${awaited.child}`, awaited.child <= 450],
    ...announcements.map(([runs, tokens, limit]): Aim => {
      return [
        `announcement of ${runs} without findings ≤ ${limit} tokens`,
        `${tokens}, the most of ${ANNOUNCEMENTS}`,
        tokens <= limit,
      ];
    }),
  ];
}

const whole = (value: number): string => value.toLocaleString("en-GB");
