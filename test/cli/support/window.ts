/** A program in a window of tmux: a whole terminal, which wraps, scrolls and can be resized. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const windowsAvailable = spawnSync("tmux", ["-V"]).error === undefined;

export interface Window {
  type(text: string): void;
  press(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
  /** What is seen, without empty lines at the end. */
  visible(): string[];
  /** The same, with what has scrolled out. */
  all(): string[];
  cursor(): { readonly column: number; readonly row: number };
  sees(wanted: (visible: string[]) => boolean): Promise<void>;
  close(): void;
}

const PATIENCE_MS = 50_000;

export function openWindow(
  command: readonly string[],
  how: { readonly folder: string; readonly columns: number; readonly rows: number },
): Window {
  // A server of its own, so that it is nobody else's session that is written to or closed.
  const home = mkdtempSync(join(tmpdir(), "errand-tmux-"));
  const tmux = (...args: readonly string[]): string => {
    const options = { encoding: "utf8", env: { ...process.env, TMUX: "", LC_ALL: "C.UTF-8" } } as const;
    const { status, stdout, stderr } = spawnSync(
      "tmux",
      ["-S", join(home, "socket"), "-f", "/dev/null", ...args],
      options,
    );
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const size = ["-x", String(how.columns), "-y", String(how.rows)];
  tmux(
    "new-session",
    "-d",
    "-s",
    "w",
    ...size,
    "-c",
    how.folder,
    `NO_COLOR=1 ${quoted}; echo "exit $?"; exec sleep 600`,
  );
  const capture = (...args: readonly string[]): string[] =>
    tmux("capture-pane", "-p", "-t", "w", ...args)
      .trimEnd()
      .split("\n");
  const window: Window = {
    type: (text) => void tmux("send-keys", "-t", "w", "-l", text),
    press: (...keys) => void tmux("send-keys", "-t", "w", ...keys),
    resize: (columns, rows) => void tmux("resize-window", "-t", "w", "-x", String(columns), "-y", String(rows)),
    visible: () => capture(),
    all: () => capture("-S", "-1000"),
    cursor() {
      const [column = 0, row = 0] = tmux("display-message", "-p", "-t", "w", "#{cursor_x} #{cursor_y}")
        .split(" ")
        .map(Number);
      return { column, row };
    },
    async sees(wanted) {
      const began = performance.now();
      while (!wanted(window.visible())) {
        if (performance.now() - began > PATIENCE_MS) throw new Error(`not seen:\n${window.all().join("\n")}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    close() {
      tmux("kill-server");
      rmSync(home, { recursive: true, force: true });
    },
  };
  return window;
}
