/**
 * A chat in a terminal. The conversation stays above; at the bottom are the text that the agent is writing, the tree
 * while it works, and the line that the user types.
 *
 * Invariants:
 *  1. Whatever is written above, the typed line and its cursor stay as they are.
 *  2. The frame leaves one row of the window free above it, because some terminals keep text that is erased from the
 *     first row on.
 */

import type { HistoryItem } from "../../../view/history.ts";
import type { Display } from "../../display/display.ts";
import { type Drawing, type MovingFrame, openMovingFrame } from "../../display/moving-frame.ts";
import type { Host, Screen } from "../../host.ts";
import type { ReadableEvent } from "../../../view/readable-event.ts";
import { countLabel } from "../../../view/amounts.ts";
import { createColours } from "../../text/colours.ts";
import { fitWidth } from "../../text/display-width.ts";
import { terminalLine, terminalText } from "../../text/terminal-text.ts";
import { agentText, createWrittenText } from "../../display/agent-text.ts";
import { totalsLine, treeLines } from "../../display/tree-lines.ts";
import { type AgentModel, createTreeModel, treeIdle, type TreeModel } from "../../../view/tree-model.ts";
import { layoutInput } from "./input-layout.ts";
import type { LineEditor } from "./line-editor.ts";

const MARK = "› ";
/** The most messages, and rows of each, that are shown of an earlier conversation. */
const PAST_ITEMS = 4;
const PAST_ROWS = 8;
/** The rows above and below the frame, an empty row at its top, and one above the typed line. */
const ROWS_BESIDE = 4;

export interface ChatScreen extends Display {
  /** The typed line has changed. */
  typed(): void;
  /** A line that the user sent. */
  sent(text: string): void;
  /** Prints lines of Errand itself. */
  print(lines: readonly string[]): void;
  /** Prints the whole tree, with the numbers of its runs. */
  printTree(): void;
  printHistory(items: readonly HistoryItem[]): void;
}

export interface ChatScreenParts {
  readonly host: Host;
  readonly screen: Screen;
  readonly editor: LineEditor;
  /** Called when Ctrl-Z gives the terminal back, and when it is taken again. */
  readonly typing: { paused(): void; resumed(): void };
}

export function createChatScreen({ host, screen, editor, typing }: ChatScreenParts): ChatScreen {
  const colours = createColours(host.colours.out);
  let frame: MovingFrame | null = null;
  let model = createTreeModel();
  let now = (): number => 0;
  const written = createWrittenText(host);
  let notice: string | null = null;
  let working = false;
  /** The tree when it began to work: runs that had ended by then are not drawn. */
  let start = startOf(model);
  let choices: readonly string[] = [];
  let ticks = 0;

  function drawing(tick: number): Drawing {
    ticks = tick;
    const { columns, rows } = screen.size();
    const width = Math.max(4, columns - 1);
    const inputHeight = Math.max(1, Math.floor(rows / 3));
    const input = layoutInput(editor.text, editor.cursor, { width, height: inputHeight, mark: MARK });
    const status = statusLines(width);
    const room = Math.max(0, rows - input.rows.length - status.length - ROWS_BESIDE);
    const height = Math.min(room, Math.max(2, Math.floor((room * 2) / 3)));
    const tree = working && height > 0 ? treePicture(treeSince(model, start), height) : [];
    const above = [...written.rows(width, room - tree.length), ...tree];
    const top = above.length + status.length === 0 ? [] : [""];
    const before = [...top, ...above, ...status, ""];
    const cursor = { row: before.length + input.cursor.row, column: input.cursor.column };
    return { lines: [...before, ...input.rows], cursor, moves: working || !written.empty };
  }

  function treePicture(shown: TreeModel, height?: number): string[] {
    const width = Math.max(4, screen.size().columns - 1);
    return treeLines(shown, { width, now: now(), frame: ticks, colours, ...(height === undefined ? {} : { height }) });
  }

  function statusLines(width: number): string[] {
    const asked = choices.map((line) => colours.yellow(fitWidth(line, width)));
    if (!working) return asked;
    const totals = totalsLine(treeSince(model, start), now());
    return [colours.dim(fitWidth(`${totals} · ${notice ?? "Ctrl-C cancels"}`, width)), ...asked];
  }

  /** Prints text above the frame, after an empty line. */
  function print(text: string): void {
    frame?.above(`\n${text}\n`);
  }

  function userLines(text: string): string {
    return colours.bold(`${MARK}${text.replaceAll("\n", `\n${" ".repeat(MARK.length)}`)}`);
  }

  /** When the tree comes to rest, its last picture stays above. */
  function updateWorking(): void {
    const works = model.tree !== "" && !treeIdle(model);
    if (works && !working) start = startOf(model);
    if (!works && working) {
      const recent = treeSince(model, start);
      if (recent.agents.size > 1) print(treePicture(recent).join("\n"));
      notice = null;
    }
    working = works;
  }

  function printFailedTurns(changes: readonly ReadableEvent[]): void {
    for (const change of changes) {
      if (change.type !== "turn-ended" || change.agent !== model.agents.get(0)?.id) continue;
      if (change.outcome === "cancelled") print(colours.dim("(cancelled)"));
      if (change.outcome !== "failed") continue;
      const why = `the turn failed (${change.reason ?? "unknown reason"}): ${change.error ?? ""}`;
      print(colours.red(terminalLine(why)));
    }
  }

  return {
    begin({ model: name, because, store, recovered }) {
      for (const line of [`model ${name} (because ${because}) · store ${store}`, "Enter sends, Ctrl-D leaves, /help"])
        host.out(`${colours.dim(fitWidth(line, screen.size().columns - 1))}\n`);
      if (recovered > 0) host.out(`going on with ${countLabel(recovered, "unfinished tree")} of an earlier process\n`);
      frame = openMovingFrame({ host, screen, drawing, typing });
      frame.draw();
    },
    printHistory(items) {
      for (const { from, text } of items.slice(-PAST_ITEMS)) {
        const lines = (from === "user" ? terminalText(text).trim() : agentText(text, host)).split("\n");
        const shown = (lines.length > PAST_ROWS ? [...lines.slice(0, PAST_ROWS), "…"] : lines).join("\n");
        print(from === "user" ? userLines(shown) : shown);
      }
    },
    changed(changed, changes, time) {
      model = changed;
      now = time;
      if (model.agents.get(0)?.thinking !== true) written.clear();
      updateWorking();
      printFailedTurns(changes);
      frame?.draw();
    },
    message({ text }) {
      written.clear();
      print(agentText(text, host));
    },
    text({ agent, text }) {
      if (agent !== model.agents.get(0)?.id) return;
      // Later parts are drawn with the next movement of the frame.
      if (written.empty) frame?.draw();
      written.write(text);
    },
    rest: () => undefined,
    draining: () => undefined,
    notice(text) {
      notice = text;
      frame?.draw();
    },
    ask(question) {
      if (typeof question?.text === "string") print(question.text);
      choices = question?.choices ?? [];
      frame?.draw();
    },
    answer: () => undefined,
    end: () => undefined,
    typed: () => frame?.draw(),
    sent: (text) => print(userLines(terminalText(text))),
    print: (lines) => print(lines.join("\n")),
    printTree() {
      const numbered = [...model.agents].map(([number, agent]) => {
        return [number, number === 0 ? agent : { ...agent, name: `${number}: ${agent.name}` }] as const;
      });
      print(treePicture({ ...model, agents: new Map(numbered) }).join("\n"));
    },
    close: () => frame?.close([]),
  };
}

interface Start {
  readonly at: number;
  readonly tokens: number;
  readonly cost: number;
}

function startOf({ at, agents }: TreeModel): Start {
  const { tokens = 0, cost = 0 } = agents.get(0) ?? {};
  return { at, tokens, cost };
}

/** The tree without runs that ended before `start`, and with what its root used since then. */
function treeSince(model: TreeModel, start: Start): TreeModel {
  const agents = [...model.agents.values()].flatMap((agent): AgentModel[] => {
    const { run, endedAt, tokens, cost } = agent;
    if (run === null)
      return [{ ...agent, startedAt: start.at, tokens: tokens - start.tokens, cost: cost - start.cost }];
    return run.state !== "ended" || (endedAt ?? 0) >= start.at ? [agent] : [];
  });
  return { ...model, agents: new Map(agents.map((agent) => [agent.number, agent])) };
}
