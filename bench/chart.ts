/** Draws delegations per second, in memory and stored, as bars on a logarithmic scale. */

import type { Results } from "./table.ts";
import type { Column, Row } from "./plan.ts";

const WIDTH = 790;
const LEFT = 270;
const BAR = 20;
const GAP = 8;
const COLOURS = { errand: "#2563eb", floor: "#9ca3af", peer: "#d97706" };

interface Bar {
  readonly title: string;
  readonly value: number;
  readonly colour: string;
}

export function chartOf(results: Results): string {
  const sections = [
    { title: "In memory: delegations per second (W1)", bars: barsOf(results, "w1") },
    { title: "Stored: delegations per second (W4)", bars: barsOf(results, "w4") },
  ];
  const largest = Math.max(...sections.flatMap(({ bars }) => bars.map(({ value }) => value)), 10);
  const scale = (value: number): number => (Math.log10(Math.max(value, 1)) / Math.log10(largest)) * (WIDTH - LEFT - 90);
  const parts: string[] = [];
  let y = 10;
  for (const { title, bars } of sections) {
    y += 24;
    parts.push(`<text x="10" y="${y}" font-weight="bold">${title}, logarithmic</text>`);
    y += 12;
    for (const bar of bars) {
      const length = scale(bar.value).toFixed(1);
      parts.push(
        `<text x="${LEFT - 8}" y="${y + 14}" text-anchor="end">${bar.title}</text>`,
        `<rect x="${LEFT}" y="${y}" width="${length}" height="${BAR}" fill="${bar.colour}"/>`,
        `<text x="${LEFT + Number(length) + 6}" y="${y + 14}">${Math.round(bar.value).toLocaleString("en-GB")}</text>`,
      );
      y += BAR + GAP;
    }
  }
  const height = y + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" ` +
      'font-size="13" role="img">',
    "<title>Delegations per second of Errand, its peers and hand-written floors</title>",
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function barsOf(results: Results, column: Column): readonly Bar[] {
  const bars = [...results].flatMap(([row, cells]): Bar[] => {
    const outcome = cells.get(column);
    if (outcome === undefined || "failed" in outcome) return [];
    return [{ title: row.title.replaceAll("*", ""), value: outcome.value, colour: colourOf(row) }];
  });
  return bars.toSorted((a, b) => b.value - a.value);
}

function colourOf({ contender }: Row): string {
  if (contender === "errand") return COLOURS.errand;
  return contender === "floor" ? COLOURS.floor : COLOURS.peer;
}
