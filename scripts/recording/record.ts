/** Records `npm start` and writes docs/start.svg. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { animatedSvg } from "./animated-svg.ts";
import { type Frame, recordScreen } from "./record-screen.ts";

const root = join(import.meta.dirname, "..", "..");
const file = join(root, "docs", "start.svg");
const size = { columns: 90, rows: 40 };
/** Eight frames a second. */
const FRAME_MS = 125;
const LAST_MS = 8_000;

// An empty home and no variables of the outer npm: the recording shows none of the user's settings.
const home = mkdtempSync(join(tmpdir(), "errand-record-"));
const inherited = Object.entries(process.env).filter(
  ([name]) => !/^(npm_.*|NO_COLOR|FORCE_COLOR|COLORTERM)$/i.test(name),
);
const env = {
  ...Object.fromEntries(inherited),
  HOME: home,
  TERM: "xterm-256color",
  npm_config_update_notifier: "false",
};
const { frames, exitCode } = await recordScreen({ command: "npm start", folder: root, env, size });
rmSync(home, { recursive: true, force: true });
if (exitCode !== 0) throw new Error(`npm start ended with exit code ${exitCode}; docs/start.svg is unchanged`);

const shown = thinned(frames.filter(({ runs }) => runs.length > 0));
const svg = animatedSvg({
  frames: shown,
  heading: "npm start",
  title: "Errand survives a kill: npm start in a terminal",
  description:
    "An agent delegates to four children, drawn as a tree. After two children have ended, their process is killed " +
    "with SIGKILL. A new process resumes the same tree and finishes. The last line counts the journal: four spawned, " +
    "four ended, four told once, and the replay is identical.",
  columns: size.columns,
  lastMs: LAST_MS,
});
writeFileSync(file, svg);
process.stdout.write(`${file}: ${shown.length} frames, ${Math.ceil(Buffer.byteLength(svg) / 1_024)} KB\n`);

/** The last frame of each interval. */
function thinned(all: readonly Frame[]): readonly Frame[] {
  const interval = ({ atMs }: Frame): number => Math.floor(atMs / FRAME_MS);
  return all.filter((frame, index) => {
    const next = all[index + 1];
    return next === undefined || interval(next) !== interval(frame);
  });
}
