/**
 * What a simulated outside child does: it makes progress, asks, reports, ends well or badly, hangs, dies, and may still
 * tell a result after it was stopped. Everything is drawn from the seed.
 */

import type { RunnerEnd, RunnerEvents, RunnerMessage, RunnerReport, RunnerRequest } from "../../src/index.ts";
import type { Random } from "./random.ts";
import { words } from "./replies.ts";
import { SECRET } from "./secret.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import { oddUsage } from "./troubles/odd-values.ts";
import type { Troubles } from "./troubles/troubles.ts";

export interface ScriptParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly count: (what: string) => void;
  readonly troubles: () => Troubles;
  /** Makes a unique word of the agent. */
  readonly token: (agent: string) => string;
}

export interface Playing {
  readonly request: RunnerRequest;
  readonly events: RunnerEvents;
  readonly life: Life;
  /** True if it can name its session. */
  readonly resumes: boolean;
  /** True if it takes answers. */
  readonly asks: boolean;
  /** Names of questions that an earlier session of the run has asked. */
  readonly asked: Set<string>;
  readonly isAlive: () => boolean;
  /** Nothing of it runs any more. */
  readonly over: () => void;
}

export interface Script {
  /** It is told something. */
  readonly told: (message: RunnerMessage) => void;
  /** It ends because it was stopped. */
  readonly stopped: () => void;
}

const LATENCIES = [
  [30, 0],
  [40, 400],
  [20, 3_000],
  [4, 30_000],
] as const;
/** After so many deeds it ends. */
const MOST_DEEDS = 12;
const MEND_MS = 200;

export function playScript({ random, world, count, troubles, token }: ScriptParts, playing: Playing): Script {
  const { request, events, life, asked, isAlive } = playing;
  const usage = { input: 0, output: 0 };
  let iterations = 0;
  let deeds = 0;
  let waitsFor: string | null = null;
  let hangs = false;

  const typed = request.outputSchema !== null;
  const said = (): string => {
    const text = words({ random, token: () => token(request.agent) });
    // It knows its keys, and may say them.
    return random.percent(6) ? `${text} with ${SECRET}` : text;
  };

  function report(fits: boolean): RunnerReport {
    const data = typed ? { data: fits ? { n: 7, word: said() } : random.pick([{ n: "x" }, { m: 1 }]) } : {};
    const kind = random.percent(fits ? 0 : 30) ? ("odd" as "note") : "note";
    const artifacts = random.percent(15) ? { artifacts: [{ kind, value: said() }] } : {};
    return { text: said(), ...artifacts, ...(typed && !fits && random.percent(30) ? {} : data) };
  }
  const anyReport = (): RunnerReport => report(random.percent(70));

  function end(given: RunnerEnd): void {
    if (!isAlive()) return;
    playing.over();
    count(`outside ${given.status}`);
    events.ended(given);
    if (!random.percent(10)) return;
    // Nothing that comes after the end counts.
    events.report(anyReport());
    events.ended({ status: "ok", report: anyReport() });
  }

  function endSomehow(): void {
    const spent = random.percent(50) ? { usage: { ...usage, output: usage.output + 20 } } : {};
    const last = random.percent(70) ? { report: anyReport() } : {};
    end(
      random.weighted<RunnerEnd>([
        [70, { status: "ok", ...last, ...spent }],
        [15, { status: "error", error: said(), ...last, ...spent }],
        [15, { status: "failed", code: random.pick(["envelope-json", "runner-hung"]), error: said(), ...spent }],
      ]),
    );
  }

  function ask(): void {
    const known = [...asked];
    const id = known.length > 0 && random.percent(20) ? random.pick(["q1", ...known]) : `q${asked.size + 1}`;
    asked.add(id);
    const choices = random.percent(40) ? { choices: ["red", "blue"] } : {};
    if (random.percent(70)) waitsFor = id;
    count("outside asks");
    events.question({ id, text: random.percent(5) ? "" : said(), ...choices });
  }

  function progress(): void {
    iterations += random.below(3);
    usage.input += random.below(900);
    usage.output += random.below(90);
    const text = random.percent(80) ? { text: said() } : {};
    const odd = troubles().strikes("odd-usage", 30);
    const used = odd ? oddUsage(troubles().random) : random.percent(70) ? { ...usage } : undefined;
    events.progress({ ...text, ...(used === undefined || used === null ? {} : { usage: used }), iterations });
  }

  function deed(): void {
    if (!isAlive() || waitsFor !== null || hangs) return;
    deeds += 1;
    const next =
      deeds > MOST_DEEDS
        ? endSomehow
        : random.weighted<() => void>([
            [30, progress],
            [playing.resumes ? 16 : 0, () => events.resumable(`session-${request.attempt}-${deeds}`)],
            [playing.asks ? 14 : 2, ask],
            [12, () => events.report(anyReport())],
            [22, endSomehow],
            [
              5,
              () => {
                hangs = true;
                count("outside hangs");
              },
            ],
            [5, () => end({ status: "failed", code: "runner-died", error: "it ended without a result" })],
          ]);
    next();
    goOn();
  }

  function goOn(): void {
    if (isAlive() && waitsFor === null && !hangs) world.at(world.now + random.weighted(LATENCIES), deed, life);
  }

  goOn();
  return {
    told(message) {
      count(`outside told ${message.type}`);
      if (message.type === "answer" && message.question === waitsFor) {
        waitsFor = null;
        goOn();
      }
      if (message.type !== "report-refused" || !random.percent(70)) return;
      const mend = (): void => (isAlive() ? events.report(report(true)) : undefined);
      world.at(world.now + MEND_MS, mend, life);
    },
    stopped() {
      const late = random.percent(25);
      if (late) count("outside late result");
      if (late) endSomehow();
      else end({ status: "failed", code: "runner-died", error: "it was stopped" });
    },
  };
}
