/** What a recorded SVG shows, read from its texts and animations. */

interface Change {
  /** Percent of the whole time. */
  readonly at: number;
  readonly visible: boolean;
}

interface ShownText {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  /** Empty for a text that is always as it is without animation. */
  readonly changes: readonly Change[];
  readonly visibleWithoutAnimation: boolean;
}

export interface RecordedScreens {
  /** The lines of the screen at each moment at which something changes. */
  readonly screens: readonly (readonly string[])[];
  /** The lines that are shown without animation. */
  readonly still: readonly string[];
}

const KEYFRAMES = /@keyframes (t\d+)\{((?:[\d.]+%\{visibility:(?:visible|hidden)\})+)\}/g;
const CHANGE = /([\d.]+)%\{visibility:(visible|hidden)\}/g;
const TEXT = /^<text(?: class="([^"]*)")? x="([\d.]+)" y="([\d.]+)"(?: textLength="[\d.]+")?>([^<]+)<\/text>$/gm;

export function recordedScreens(svg: string): RecordedScreens {
  const texts = shownTexts(svg);
  const moments = new Set(texts.flatMap(({ changes }) => changes.map(({ at }) => at)));
  const screens = [...moments]
    .toSorted((earlier, later) => earlier - later)
    .map((moment) =>
      lines(
        texts.filter(
          ({ changes, visibleWithoutAnimation }) =>
            changes.findLast(({ at }) => at <= moment)?.visible ?? visibleWithoutAnimation,
        ),
      ),
    );
  return { screens, still: lines(texts.filter(({ visibleWithoutAnimation }) => visibleWithoutAnimation)) };
}

function shownTexts(svg: string): readonly ShownText[] {
  const animations = new Map(
    [...svg.matchAll(KEYFRAMES)].map(([, name = "", steps = ""]): [string, Change[]] => [
      name,
      [...steps.matchAll(CHANGE)].map(([, at, how]) => ({ at: Number(at), visible: how === "visible" })),
    ]),
  );
  const drawn = svg.slice(svg.indexOf("<g "));
  return [...drawn.matchAll(TEXT)].map(([, classes = "", x, y, text = ""]) => {
    const names = classes.split(" ");
    return {
      row: Number(y),
      column: Number(x),
      text: text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&"),
      changes: names.flatMap((name) => animations.get(name) ?? []),
      visibleWithoutAnimation: !names.includes("past"),
    };
  });
}

function lines(texts: readonly ShownText[]): string[] {
  const rows = Map.groupBy(texts, ({ row }) => row);
  return [...rows]
    .toSorted(([above], [below]) => above - below)
    .map(([, runs]) =>
      runs
        .toSorted((left, right) => left.column - right.column)
        .map(({ text }) => text)
        .join("  "),
    );
}
