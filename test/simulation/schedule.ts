/** The happenings of the first minutes: what people do, and the accidents of the machine. */

import type { Machine } from "./machine-parts.ts";
import type { People } from "./people.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";
import type { SimulatedWorld } from "./simulated-world.ts";
import type { Locks } from "./troubles/locks.ts";
import type { Troubles } from "./troubles/troubles.ts";

interface ScheduleParts {
  readonly world: SimulatedWorld;
  readonly machine: Machine;
  readonly people: People;
  readonly plan: Plan;
  readonly chance: Random;
  readonly troubles: Troubles;
  readonly locks: Locks;
  readonly count: (what: string) => void;
  /** True once the simulation ends: nothing new is started. */
  readonly isEnding: () => boolean;
}

const DAY = 86_400_000;

export function scheduleHappenings(parts: ScheduleParts): void {
  const { world, machine, people, plan, chance, troubles, locks, count } = parts;
  /** Work that needs a running process waits for one. */
  const deed = (work: () => void): (() => void) => {
    const once = (): void => {
      if (machine.errand !== null) return work();
      if (!parts.isEnding()) world.at(world.now + 1_000, once);
    };
    return once;
  };
  const act = deed(() => {
    if (machine.errand !== null && machine.life !== null) people.act(machine.errand, machine.life);
  });
  const open = deed(() => {
    if (machine.errand !== null && machine.life !== null) people.openTree(machine.errand, machine.life);
  });
  world.at(0, open);
  if (chance.percent(30)) world.at(chance.below(5_000), open);
  const deeds = 4 + chance.below(7);
  for (let deed = 0; deed < deeds; deed += 1)
    world.at(chance.pick([10, 10, 500, 5_000, 40_000]) + chance.below(3) * 500, act);
  if (chance.percent(30)) {
    world.at(chance.below(60_000), () => {
      count("clock jumped");
      world.jumpWall(chance.pick([DAY, -DAY]));
    });
  }
  if (troubles.kinds.size > 0) world.at(troubles.random.below(5_000), open);
  for (let times = troubles.random.below(3); times >= 0; times -= 1) {
    const lock = deed(() => {
      const end = locks.begin();
      if (end !== null) machine.troubledAt = Math.max(machine.troubledAt, end);
    });
    if (troubles.kinds.size > 0) world.at(100 + troubles.random.below(60_000), lock);
  }
  if (plan.faults > 0 && chance.percent(30)) world.at(chance.below(20_000), () => machine.die());
  if (plan.outside && chance.percent(40)) world.at(chance.below(15_000), () => machine.die());
  if (chance.percent(10)) {
    world.at(
      5_000 + chance.below(20_000),
      deed(() => {
        count("closed in order");
        const within = chance.pick([0, 2_000]);
        machine.close(within).then(
          (left) => (left === null ? undefined : world.at(world.now + 100, () => machine.start())),
          () => {},
        );
      }),
    );
  }
}
