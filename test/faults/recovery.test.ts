/**
 * What must hold for every fault of the table in docs/reliability.md: after its end work goes on within 5 s without a
 * restart, memory and descriptors are back within 10 % of the level before, nothing is lost or doubled, and what a
 * person must know is said once, with its remedy.
 */

import { afterAll, describe, expect, test, vi } from "vitest";
import { FAULTS } from "./recovery/faults.ts";
import { type MeasuredFault, RECORD_FAULTS, recordFaults } from "./recovery/record-faults.ts";

vi.setConfig({ testTimeout: 120_000 });

const RESUMES_WITHIN_MS = 5_000;
const MOST_GROWTH = 1.1;

const measured: MeasuredFault[] = [];
afterAll(() => {
  if (process.env[RECORD_FAULTS] !== undefined) recordFaults(measured, FAULTS.length);
});

describe.concurrent("after", () => {
  for (const { name, store, tells, during, possible = true, run } of FAULTS) {
    test.runIf(possible)(
      `${name}, ${store}: work goes on within 5 s, and nothing is left of the fault`,
      async ({ onTestFinished }) => {
        const got = await run((work) => onTestFinished(work));

        const { resumedMs, heap, descriptors, told, findings } = got;
        process.stdout.write(`${name}, ${store}: ${JSON.stringify({ resumedMs, heap, descriptors })}\n`);
        expect(findings).toEqual([]);
        expect(got.during).toBe(during);
        expect(told.filter(({ over }) => !over).map(({ code }) => code)).toEqual(tells);
        for (const { code, remedy, over } of told)
          if (!over) expect({ code, remedy }).not.toEqual({ code, remedy: "" });
        expect(resumedMs).toBeLessThan(RESUMES_WITHIN_MS);
        expect(heap).toBeLessThan(MOST_GROWTH);
        expect(descriptors).toBeLessThan(MOST_GROWTH);
        measured.push({ ...got, name, store });
      },
    );
  }
});
