/**
 * Shows the demonstration on standard output: as lines, in a terminal with the tree of agents below them, or as one
 * JSON object a line for programs. In a terminal the tree is removed at the end, so that the same lines are left
 * everywhere.
 */

import type { Host, Screen } from "../../host.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { type Drawing, openMovingFrame } from "../../display/moving-frame.ts";
import { createColours } from "../../text/colours.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalText } from "../../text/terminal-text.ts";
import { treeLines } from "../../display/tree-lines.ts";
import type { TreeModel } from "../../../view/tree-model.ts";
import { type DemoProof, proofLine } from "./prove-demo.ts";
import { stepLine } from "./step-line.ts";
import type { Step } from "./step.ts";

export interface DemoScreen {
  begin(): void;
  step(step: Step): void;
  /** `now` is the tree's time; null while no process works on it. */
  drawTree(model: TreeModel, now: (() => number) | null): void;
  end(answer: string, proof: DemoProof): void;
  /** Gives the terminal back. */
  close(): void;
}

const TITLE = "An agent sends out four children; its process is killed; a new one finishes.";
const SOURCE = "Offline, without a key. What agents do is read from their journal on disk.";
const SILENCE = "nothing runs now: all that is left is the journal";
/** An empty line above the tree, one line below it, the line of the cursor, and one above the frame. */
const LINES_BESIDE = 4;

export function createDemoScreen(host: Host, json: boolean): DemoScreen {
  if (json) return createJsonScreen(host);
  return host.screen === null ? createLinesScreen(host, host.out) : createTreeScreen(host, host.screen);
}

function createJsonScreen(host: Host): DemoScreen {
  const began = host.world.monotonic();
  return {
    begin: () => undefined,
    step: (step) => host.out(jsonLine({ ...step, elapsedMs: Math.round(host.world.monotonic() - began) })),
    drawTree: () => undefined,
    end(answer, proof) {
      host.out(jsonLine({ type: "answer", text: answer }));
      host.out(jsonLine({ type: "proof", ...proof, ok: proof.problems.length === 0 }));
    },
    close: () => undefined,
  };
}

function createLinesScreen(host: Host, write: (text: string) => void): DemoScreen {
  const colours = createColours(host.colours.out);
  const began = host.world.monotonic();
  return {
    begin: () => write(`${colours.bold(TITLE)}\n${SOURCE}\n\n`),
    step(step) {
      const columns = host.screen === null ? null : host.screen.size().columns - 1;
      write(`${stepLine(step, host.world.monotonic() - began, colours, columns)}\n`);
    },
    drawTree: () => undefined,
    end(answer, proof) {
      const paint = proof.problems.length === 0 ? colours.green : colours.red;
      write(`\n${terminalText(answer).trimEnd()}\n\n${paint(proofLine(proof))}\n`);
    },
    close: () => undefined,
  };
}

function createTreeScreen(host: Host, screen: Screen): DemoScreen {
  const colours = createColours(host.colours.out);
  const lines = createLinesScreen(host, (text) => frame.above(text));
  let model: TreeModel | null = null;
  let now: () => number = () => 0;
  let working = true;
  const frame = openMovingFrame({ host, screen, drawing });

  function drawing(tick: number): Drawing {
    if (model === null || model.tree === "") return { lines: [], moves: false };
    const { columns, rows } = screen.size();
    const width = Math.max(1, columns - 1);
    const picture = treeLines(model, { width, height: rows - LINES_BESIDE, now: now(), frame: tick, colours });
    const below = fitWidth(working ? "Ctrl-C leaves" : SILENCE, width);
    return { lines: ["", ...picture, working ? colours.dim(below) : colours.red(below)], moves: working };
  }

  return {
    begin: lines.begin,
    step: lines.step,
    drawTree(given, time) {
      model = given;
      working = time !== null;
      const at = now();
      now = time ?? (() => at);
      frame.draw();
    },
    end(answer, proof) {
      frame.close([]);
      createLinesScreen(host, host.out).end(answer, proof);
    },
    close: () => frame.close([]),
  };
}
