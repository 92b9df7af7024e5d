/**
 * Losses of power: when the machine of a process loses its power, and how a slow disk behaves in seeds with such a
 * loss.
 */

import type { Power } from "./power.ts";
import type { Random } from "./random.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";

export interface Outages {
  /** Asked when a process goes down: a source of randomness if its machine lost its power, else null. */
  cut(): Random | null;
  /** Waits until the disk has written everything. Resolves with false if it refuses. */
  waitForDisk(life: Life): Promise<boolean>;
  /** Called after a commit with a deferred fsync: the power may go before it is durable. */
  onDeferred(): void;
  /** True if this seed has a slow disk, because its power can go at any time. */
  readonly slowDisk: boolean;
}

interface OutageParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly power: Power;
  readonly count: (what: string) => void;
  readonly isEnding: () => boolean;
  readonly isOver: () => boolean;
  readonly die: () => void;
}

/** Percentage of dying processes whose machine loses its power. */
const CUT = 25;
/** Percentage of seeds in which the power goes while nothing else is wrong. */
const SEEDS = 10;
/** In those seeds: the percentage of deferred commits after which it goes, and how often at most. */
const AFTER_DEFERRED = 30;
const MOST_OUTAGES = 2;
/** It goes within this time, because deferred commits are durable soon. */
const WITHIN_MS = 50;
/** How long the disk takes in those seeds, and the percentage of writes that it refuses. */
const DISK_MS = [0, 1, 10, 40] as const;
const REFUSES = 20;

export function createOutages(parts: OutageParts): Outages {
  const { random, world, power, count } = parts;
  let left = random.percent(SEEDS) ? 1 + random.below(MOST_OUTAGES) : 0;
  const slowDisk = left > 0;
  let powerGoes = false;
  return {
    slowDisk,
    cut: () => (!parts.isOver() && (powerGoes || random.percent(CUT)) ? random : null),
    waitForDisk(life) {
      if (!slowDisk || parts.isEnding() || !power.behind()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const written = !random.percent(REFUSES);
        if (!written) count("disk refused");
        world.at(world.now + random.pick(DISK_MS), () => resolve(written), life);
      });
    },
    onDeferred() {
      if (parts.isEnding() || left === 0 || !random.percent(AFTER_DEFERRED)) return;
      left -= 1;
      world.at(world.now + random.below(WITHIN_MS), () => {
        powerGoes = true;
        parts.die();
        powerGoes = false;
      });
    },
  };
}
