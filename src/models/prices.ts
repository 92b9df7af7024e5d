/**
 * Prices of models in micro-dollars for a million tokens, and their context windows in tokens.
 *
 * These are standard rates, collected on 15 November 2026 from stored copies of public pages: Claude's from
 * platform.claude.com/docs (models and pricing), OpenAI's and Google's from announcements that cite
 * developers.openai.com/api/docs/pricing and ai.google.dev/gemini-api/docs/pricing (docs.litellm.ai,
 * vercel.com/ai-gateway/models). They do not include surcharges for long prompts (OpenAI's above 272,000 tokens), cache
 * writes and discounts. Uncertain figures were left out. An unknown price is null, and its costs count as 0.
 */

import type { ModelFacts } from "../contracts/model.ts";

/** By `provider/name`. An entry also applies to the model's dated and tagged versions. */
export type PriceTable = Readonly<Record<string, Partial<ModelFacts>>>;

const UNKNOWN: ModelFacts = { window: null, price: null };
const FREE = { input: 0, output: 0, cachedInput: 0 } as const;
const MILLION = 1_000_000;

/** The suffixes of the same model: a date, `latest`, `preview`, a tag. */
const VERSION = /^(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{3}|latest|preview(?:-.*)?))?(?::.*)?$/;

const KNOWN: PriceTable = {
  "anthropic/claude-fable-5-1": claude(10, 50, 0.25),
  "anthropic/claude-fable-5": claude(10, 50, 1),
  "anthropic/claude-opus-5-5": claude(4, 20, 0.2),
  "anthropic/claude-opus-5": claude(5, 25, 0.5),
  // Since October 2026 a cached token costs 0.10; pages from September still say 0.20.
  "anthropic/claude-sonnet-5-5": claude(2, 10, 0.1),
  "anthropic/claude-sonnet-5": claude(2, 10, 0.2),
  // No price: it is five times as high for prompts above 100,000 tokens.
  "anthropic/claude-haiku-5-5": { window: MILLION },
  "anthropic/claude-opus-4-8": { price: dollars(5, 25, 0.5) },
  "anthropic/claude-opus-4-7": { price: dollars(5, 25, 0.5) },
  "anthropic/claude-opus-4-6": { price: dollars(5, 25, 0.5) },
  "anthropic/claude-haiku-4-5": { window: 200_000, price: dollars(1, 5, 0.1) },
  "anthropic/claude-sonnet-4-5": { window: 200_000, price: dollars(3, 15, 0.3) },
  "anthropic/claude-opus-4-5": { window: 200_000, price: dollars(5, 25, 0.5) },

  "openai/gpt-6-astra": gpt6(10, 50, 1),
  "openai/gpt-6.1-sol": gpt6(2, 10, 0.1),
  "openai/gpt-6.1-terra": gpt6(1, 5, 0.05),
  "openai/gpt-6-sol": gpt6(2, 10, 0.2),
  "openai/gpt-6-luna": gpt6(0.1, 0.5, 0.01),

  // The price from 1 December 2026 on. Before, it is half of this.
  "google/gemini-4-argon": { window: 1_048_576, price: dollars(4, 20, 0.2) },
  // The price until the end of 2026. Then it doubles.
  "google/gemini-3.8-flash": { window: 1_048_576, price: dollars(0.75, 3.75, 0.075) },
};

/** Unknown facts are null. Entries of `own` override the built-in ones. The longest entry that fits decides. */
export function modelFactsOf(name: string, own: PriceTable = {}): ModelFacts {
  const given = longest(name, own);
  const known = longest(name.replace(/^openai-chat\//, "openai/"), KNOWN);
  const local: Partial<ModelFacts> = name.startsWith("ollama/") ? { price: FREE } : {};
  return { ...UNKNOWN, ...local, ...known, ...given };
}

function longest(name: string, table: PriceTable): Partial<ModelFacts> {
  const fitting = Object.keys(table).filter((key) => name.startsWith(key) && VERSION.test(name.slice(key.length)));
  const key = fitting.toSorted((a, b) => b.length - a.length)[0];
  return key === undefined ? {} : (table[key] ?? {});
}

function dollars(input: number, output: number, cachedInput: number): NonNullable<ModelFacts["price"]> {
  const micro = (amount: number): number => Math.round(amount * MILLION);
  return { input: micro(input), output: micro(output), cachedInput: micro(cachedInput) };
}

function claude(input: number, output: number, cachedInput: number): ModelFacts {
  return { window: MILLION, price: dollars(input, output, cachedInput) };
}

/** Their window is 1,050,000 tokens, of which a request may take 922,000. */
function gpt6(input: number, output: number, cachedInput: number): ModelFacts {
  return { window: 922_000, price: dollars(input, output, cachedInput) };
}
