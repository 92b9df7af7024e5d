/** Work before, during and after a fault, and what is measured of it. */

import type { Level, Told } from "./subject.ts";
import type { Subject } from "./start-subject.ts";

export interface Measured {
  /** From the end of the fault until the conversation that it held up had its answer, in milliseconds. */
  readonly resumedMs: number;
  /** What came of a conversation that somebody began while the fault lasted: `answered`, or the code of its refusal. */
  readonly during: string;
  /** What people were told, in order. */
  readonly told: readonly Told[];
  /** What was lost, doubled or cannot be proven. */
  readonly findings: readonly string[];
  /** Levels after the fault, as a part of those before. */
  readonly heap: number;
  readonly descriptors: number;
}

/** Between two readings of the clock. */
export interface Ended {
  readonly endedAt: number;
  readonly resumedAt: number;
  readonly during: string;
}

const WARM_UP = 24;

/** Enough conversations that what is made once has been made. */
async function warmUp(subject: Subject, name: string): Promise<void> {
  const outcomes = await subject.order("work", name, WARM_UP);
  if (outcomes.join() !== "answered") throw new Error(`work without a fault came to: ${outcomes.join()}`);
}

/** `fault` makes the fault, and ends it. */
export async function measure(subject: Subject, fault: (subject: Subject) => Promise<Ended>): Promise<Measured> {
  await warmUp(subject, "first");
  await warmUp(subject, "before");
  const before: Level = await subject.order("level");
  const { endedAt, resumedAt, during } = await fault(subject);
  await warmUp(subject, "after");
  const findings = await subject.order("prove");
  const after: Level = await subject.order("level");
  return {
    resumedMs: resumedAt - endedAt,
    during,
    told: await subject.order("told"),
    findings,
    heap: after.heap / before.heap,
    descriptors: after.descriptors / before.descriptors,
  };
}

/** A fault of the world outside: a model answers and a deadline comes while it lasts. */
export async function heldUp(
  subject: Subject,
  fault: { readonly begin: () => Promise<void>; readonly end: () => Promise<void>; readonly lastsMs: number },
): Promise<Ended> {
  await subject.order("hold", "held");
  await subject.order("expect", 1);
  await fault.begin();
  await subject.order("release");
  const during = subject.order("work", "during", 1);
  await new Promise((resolve) => setTimeout(resolve, fault.lastsMs));
  await fault.end();
  const endedAt = performance.now();
  const outcome = await subject.order("held");
  if (outcome !== "answered") throw new Error(`the conversation that was held up came to: ${outcome}`);
  const { status, rows } = await subject.order("expected");
  const resumedAt = performance.now();
  if (status !== "timeout" || rows !== 1) throw new Error(`the deadline came to ${status}, in ${rows} rows`);
  return { endedAt, resumedAt, during: (await during).join() };
}
