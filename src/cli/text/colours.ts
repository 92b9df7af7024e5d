/**
 * Colours for a terminal, or functions that add none.
 *
 * A colour sequence carries the token of this process. The writer (terminal-writer.ts) prints only colours that have
 * it, so text from elsewhere cannot be coloured, even if its escape sequences were not filtered.
 */

export type Colour = (text: string) => string;

export interface Colours {
  readonly bold: Colour;
  readonly dim: Colour;
  readonly italic: Colour;
  readonly underline: Colour;
  readonly red: Colour;
  readonly green: Colour;
  readonly yellow: Colour;
  readonly cyan: Colour;
}

/** Groups of up to four digits, as the parameters of a sequence have them; null for no colours. */
export type ColourToken = string | null;

/** `random`: hexadecimal digits that cannot be guessed. */
export function colourToken(random: string): string {
  return [...random.matchAll(/.{1,3}/g)].map(([digits]) => String(Number.parseInt(digits, 16))).join(";");
}

export function createColours(token: ColourToken): Colours {
  const style = (opens: number, closes: number): Colour => {
    if (token === null) return (text) => text;
    const [open, close] = [`\u001b[${opens};${token}m`, `\u001b[${closes};${token}m`];
    // After the end of an inner style, this style continues.
    return (text) => `${open}${text.replaceAll(close, close + open)}${close}`;
  };
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    italic: style(3, 23),
    underline: style(4, 24),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
    cyan: style(36, 39),
  };
}
