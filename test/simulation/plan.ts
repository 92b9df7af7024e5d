/** The plan of a seed: limits, slots, definitions, and how much goes wrong. */

import type { AgentOptions, ErrandOptions, PermissionRule, SkillDefinition } from "../../src/index.ts";
import type { Random } from "./random.ts";

export interface Plan {
  readonly limits: NonNullable<ErrandOptions["limits"]>;
  readonly slots: number;
  readonly agents: Readonly<Record<string, AgentOptions>>;
  readonly skills: readonly SkillDefinition[];
  readonly window: number | null;
  readonly budget: number;
  /** Percentage of commits with a fault, and the most faults. */
  readonly faultShare: number;
  readonly faults: number;
  /** Percentage of failing deliveries. */
  readonly deaf: number;
  readonly mail: boolean;
  /** True if some agents have a runner. */
  readonly outside: boolean;
  /** The rights of each life of the process; after the last one the list starts again. */
  readonly rights: readonly LifeRights[];
}

/** The rights of one process. */
export interface LifeRights {
  /** Its permission rules; undefined for no restriction. */
  readonly permissions: readonly PermissionRule[] | undefined;
  /** False if it has no tool `strike`. */
  readonly strikes: boolean;
  /** True if a person is asked when a request has used its model calls. */
  readonly asks: boolean;
}

/** Definitions of roots. Each is used for one tree, so that a request identifies its tree. */
export const ROOTS = ["root0", "root1", "root2", "root3", "root4"] as const;

const ASKED: readonly PermissionRule[] = [
  { decision: "allow", tool: "look" },
  { decision: "ask", tool: "strike" },
];
const DENIED: readonly PermissionRule[] = [
  { decision: "ask", tool: "look" },
  { decision: "deny", tool: "strike" },
];
const RULES = [undefined, undefined, ASKED, ASKED, DENIED] as const;
/** For processes after one that asked. */
const LATER_RULES = [undefined, ASKED, DENIED, DENIED, DENIED] as const;
const PROMPT = "You work.";

export function planOf(random: Random): Plan {
  const plan = mainPlan(random);
  // Drawn last, so that the regression seeds draw everything else as before.
  const cut = random.percent(10) ? { toolResultBytes: 4, toolResultKeptBytes: 6 } : {};
  const short = random.percent(10) ? { turnSeconds: random.pick([5, 60]) } : {};
  const inside = { ...plan, outside: false, limits: { ...plan.limits, ...cut, ...short } };
  return random.percent(50) ? withOutside(inside, random) : inside;
}

/** Agents that are executed outside, and processes that may not start some of them. */
function withOutside(plan: Plan, random: Random): Plan {
  const output = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
  const rights = plan.rights.map((given) =>
    given.permissions === undefined || random.percent(70)
      ? given
      : { ...given, permissions: [...given.permissions, { decision: "deny", tool: "runner:able" } as const] },
  );
  return {
    ...plan,
    outside: true,
    rights,
    agents: {
      ...plan.agents,
      outer: { description: "works outside", prompt: PROMPT, runner: "able" },
      typer: { description: "gives data", prompt: PROMPT, runner: "able", output },
      mute: { description: "takes nothing", prompt: "", runner: "mute", ...(random.percent(50) ? { output } : {}) },
    },
  };
}

function mainPlan(random: Random): Omit<Plan, "outside"> {
  const faulty = random.percent(60);
  return {
    limits: {
      maxDepth: 1 + random.below(3),
      liveChildren: random.pick([1, 2, 8]),
      runsPerTree: random.pick([3, 6, 12]),
      tokensPerTree: random.percent(10) ? random.pick([4_000, 8_000]) : null,
      delegatedIterations: random.pick([2, 4, 8]),
      turnIterations: random.pick([3, 8]),
      barrierSeconds: random.pick([10, 60, 300]),
      userMessagesPerRun: random.pick([1, 3]),
      agentTurns: random.pick([3, 100]),
      ...(random.percent(10) ? { inboxMessages: 2 } : {}),
      ...(random.percent(10) ? { summaryBytes: 12 } : {}),
      ...(random.percent(15) ? { modelCallsPerRequest: random.pick([1, 3, 8]) } : {}),
    },
    slots: 1 + random.below(4),
    agents: {
      ...Object.fromEntries(
        ROOTS.map((name, index) => [name, { prompt: PROMPT, model: `sim/${name}`, say: index === 1 }]),
      ),
      worker: { description: "works", prompt: PROMPT },
      tagger: { description: "tags", prompt: PROMPT, reporting: "tag" as const },
      reader: { description: "reads", prompt: PROMPT, tools: ["look"], timeoutSeconds: 20 },
    },
    skills: [
      { name: "hint", description: "a hint", prompt: "Think.", isolated: false },
      { name: "probe", description: "a probe", prompt: "Probe.", isolated: true, tools: ["look"] },
    ],
    window: random.percent(15) ? 120 : null,
    budget: random.pick([12, 20, 35]),
    faultShare: faulty ? random.pick([3, 8, 15]) : 0,
    faults: faulty ? 1 + random.below(3) : 0,
    deaf: random.percent(30) ? random.pick([20, 60]) : 0,
    mail: random.percent(25),
    rights: rightsOf(random),
  };
}

/** In half of the simulations all processes have the same rights. */
function rightsOf(random: Random): readonly LifeRights[] {
  const first = { permissions: random.pick(RULES), strikes: true, asks: random.percent(50) };
  if (random.percent(50)) return [first];
  const others = Array.from({ length: 1 + random.below(2) }, () => ({
    permissions: random.pick(LATER_RULES),
    strikes: random.percent(50),
    asks: random.percent(50),
  }));
  return [first, ...others];
}
