/**
 * Draws the frames of a screen as one SVG.
 *
 * 1. It has no script, no link and no font file. CSS animates it, so it also moves inside an `<img>`.
 * 2. Without animation (reduced motion, a printer, a viewer without CSS) it shows the last frame.
 * 3. Each text is in the file once for each place on the screen, with the times at which it is visible.
 */

import type { Frame, TextRun } from "./record-screen.ts";

export interface SvgRequest {
  readonly frames: readonly Frame[];
  /** Shown in the bar above the screen. */
  readonly heading: string;
  /** For screen readers. */
  readonly title: string;
  readonly description: string;
  readonly columns: number;
  /** The time that the last frame stays before the animation starts again. */
  readonly lastMs: number;
}

const CELL = 8.4;
const LINE = 19;
const FONT_SIZE = 14;
const PADDING = 16;
const BAR = 32;

/** The first eight of the sixteen terminal colours, in their order. */
const DARK = ["#8b949e", "#ff7b72", "#3fb950", "#d29922", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"];
const LIGHT = ["#57606a", "#b3261e", "#116329", "#7d4e00", "#0550ae", "#6639ba", "#0b6470", "#1f2328"];

interface SeenText {
  readonly run: TextRun;
  /** For each frame, whether it shows this text. */
  readonly shown: boolean[];
}

export function animatedSvg({ frames, heading, title, description, columns, lastMs }: SvgRequest): string {
  const texts = seenTexts(frames);
  const rows = Math.max(0, ...texts.map(({ run }) => run.row)) + 1;
  const width = Math.ceil(columns * CELL + 2 * PADDING);
  const height = BAR + rows * LINE + 2 * PADDING;
  const times = percentages(frames, lastMs);
  const keyframes = new Map<string, { readonly name: string; readonly steps: string }>();
  const elements = texts.map(({ run, shown }) => {
    const steps = visibilitySteps(shown, times.at);
    const known = keyframes.get(steps) ?? { name: `t${keyframes.size}`, steps };
    if (steps !== "") keyframes.set(steps, known);
    return textElement(run, steps === "" ? "" : known.name, shown.at(-1) === true);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      'role="img" aria-labelledby="title description">',
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<style>${style(times.seconds, [...keyframes.values()])}</style>`,
    `<rect class="screen" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<path class="line" d="M0 ${BAR}.5h${width}"/>`,
    `<text class="c0" x="${PADDING}" y="${BAR - 11}">${escaped(heading)}</text>`,
    `<g transform="translate(${PADDING} ${BAR + PADDING})">`,
    ...elements,
    "</g>",
    "</svg>\n",
  ].join("\n");
}

function seenTexts(frames: readonly Frame[]): readonly SeenText[] {
  const seen = new Map<string, SeenText>();
  frames.forEach(({ runs }, index) => {
    for (const run of runs) {
      const key = JSON.stringify(run);
      const text = seen.get(key) ?? { run, shown: frames.map(() => false) };
      text.shown[index] = true;
      seen.set(key, text);
    }
  });
  return [...seen.values()];
}

/** The start of each frame, in percent of the whole. */
function percentages(frames: readonly Frame[], lastMs: number): { readonly at: string[]; readonly seconds: number } {
  const first = frames[0]?.atMs ?? 0;
  const length = (frames.at(-1)?.atMs ?? 0) - first + lastMs;
  return {
    at: frames.map(({ atMs }) => String(Number((((atMs - first) / length) * 100).toFixed(2)))),
    seconds: Number((length / 1_000).toFixed(2)),
  };
}

/** Empty for a text that is always visible. */
function visibilitySteps(shown: readonly boolean[], at: readonly string[]): string {
  if (shown.every(Boolean)) return "";
  return shown
    .flatMap((now, index) => {
      if (index > 0 && now === shown[index - 1]) return [];
      return [`${at[index]}%{visibility:${now ? "visible" : "hidden"}}`];
    })
    .join("");
}

function textElement({ row, column, text, colour, bold, dim }: TextRun, animation: string, last: boolean): string {
  const classes = [
    animation,
    last ? "" : "past",
    colour === null ? "" : `c${colour % 8}`,
    bold ? "bold" : "",
    dim ? "dim" : "",
  ].filter((name) => name !== "");
  const named = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
  const x = Number((column * CELL).toFixed(1));
  // Fonts differ in width, and some lack a character. The length keeps the columns aligned.
  const length = [...text].length;
  const fixed = length === 1 ? "" : ` textLength="${Number((length * CELL).toFixed(1))}"`;
  return `<text${named} x="${x}" y="${row * LINE + FONT_SIZE}"${fixed}>${escaped(text)}</text>`;
}

function style(seconds: number, keyframes: readonly { readonly name: string; readonly steps: string }[]): string {
  const colours = (palette: readonly string[]): string =>
    palette.map((colour, index) => `.c${index}{fill:${colour}}`).join("");
  return [
    `text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;` +
      "fill:#e6edf3;white-space:pre}",
    ".screen{fill:#0d1117;stroke:#30363d}.line{stroke:#30363d}",
    colours(DARK),
    ".bold{font-weight:bold}.dim{fill:#9da7b1}",
    "@media (prefers-color-scheme:light){text{fill:#1f2328}.screen{fill:#fff;stroke:#d0d7de}.line{stroke:#d0d7de}",
    `${colours(LIGHT)}.dim{fill:#57606a}}`,
    ".past{visibility:hidden}",
    "@media (prefers-reduced-motion:no-preference){",
    ...keyframes.map(
      ({ name, steps }) => `@keyframes ${name}{${steps}}.${name}{animation:${name} ${seconds}s step-end infinite}`,
    ),
    "}",
  ].join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
