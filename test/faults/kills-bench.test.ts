/** The judge of `npm run bench -- --kills`: its verdicts can fail, and Errand passes them. */

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judge, type KillLog, type ModelCall, type Step } from "../../bench/kills/judge.ts";
import { type Contender, killPoints, runDelegation } from "../../bench/kills/killed-run.ts";

const item = "item 1";
const found = `value of ${item}`;

function call(step: Step, messages: readonly string[] = [], finished = true): ModelCall {
  return { role: step === "use-tool" || step === "report" ? "child" : "parent", step, messages, finished };
}

const good: KillLog = {
  item,
  calls: [
    call("delegate", [`delegate ${item}`]),
    call("use-tool", [item]),
    call("report", [item, found]),
    call("answer", [`delegate ${item}`, found]),
  ],
  shown: [`answer: ${found}`],
  effects: ["a line"],
  error: null,
};

describe("the judge of kills", () => {
  it("finds nothing wrong with a delegation that went well", () => {
    expect(judge(good)).toEqual({ ending: "right", resultDoubled: false, effectTwice: false, paidAgain: 0 });
  });

  it("finds a side effect that was done twice", () => {
    expect(judge({ ...good, effects: ["a line", "another"] }).effectTwice).toBe(true);
  });

  it("finds a lost result, and an answer without the work", () => {
    expect(judge({ ...good, shown: ["Started."] }).ending).toBe("lost");
    expect(judge({ ...good, shown: ["answer: value of item 2"] }).ending).toBe("lost");
    expect(judge({ ...good, effects: [] }).ending).toBe("lost");
  });

  it("finds a result that the parent reads twice, and an answer that is shown twice", () => {
    const twice = [...good.calls, call("answer", [found, `Result: ${found}`])];
    expect(judge({ ...good, calls: twice }).resultDoubled).toBe(true);
    expect(judge({ ...good, calls: twice }, 2).resultDoubled).toBe(false);
    expect(judge({ ...good, shown: [...good.shown, ...good.shown] }).resultDoubled).toBe(true);
  });

  it("tells an unknown outcome and a refused restart from a lost result", () => {
    expect(judge({ ...good, shown: ["answer: outcome unknown"] }).ending).toBe("unknown");
    expect(judge({ ...good, shown: [], error: "no such run" }).ending).toBe("refused");
  });

  it("counts finished calls that were made again, and only those", () => {
    const again = [...good.calls, call("use-tool"), call("report"), call("report")];
    expect(judge({ ...good, calls: again }).paidAgain).toBe(3);
    expect(judge({ ...good, calls: [call("delegate", [], false), ...good.calls] }).paidAgain).toBe(0);
  });
});

describe("kill points", () => {
  it("are spread evenly over the moments, by the time between them", () => {
    const moments = [0, 10, 30].map((at) => ({ name: "seen", at }));
    expect(killPoints(moments, 4)).toEqual([
      { moment: 0, afterMs: 2.5 },
      { moment: 0, afterMs: 7.5 },
      { moment: 1, afterMs: 5 },
      { moment: 1, afterMs: 15 },
    ]);
  });
});

describe("Errand, killed", () => {
  const errand: Contender = {
    name: "errand",
    background: false,
    delegation: { tool: "subagent", task: "task", reports: true },
    options: { entry: join(import.meta.dirname, "..", "..", "src", "index.ts") },
  };
  const patienceMs = 25_000;

  it("answers at each of 4 points, with one result and one side effect", { timeout: 240_000 }, async () => {
    const whole = await runDelegation(errand, { number: 1, kill: null, patienceMs });
    expect(judge(whole.log)).toEqual({ ending: "right", resultDoubled: false, effectTwice: false, paidAgain: 0 });
    for (const kill of killPoints(whole.moments, 4)) {
      const { log, killed } = await runDelegation(errand, { number: 2, kill, patienceMs });
      const { ending, resultDoubled, effectTwice } = judge(log);
      expect({ killed, error: log.error, resultDoubled, effectTwice }).toEqual({
        killed: true,
        error: null,
        resultDoubled: false,
        effectTwice: false,
      });
      expect(["right", "unknown"]).toContain(ending);
    }
  });
});
