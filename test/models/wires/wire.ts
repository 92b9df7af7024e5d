/** What tests know of a provider's wire: how its server writes, how its requests read, how it complains. */

import type { Usage } from "../../../src/index.ts";

export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as they go over the wire. */
  readonly arguments: string;
}

export interface WireReply {
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
  readonly stop?: "end" | "tools" | "length" | "refused";
}

/** What a request holds of earlier replies and their results. */
export interface SentBack {
  readonly signatures: readonly string[];
  readonly calls: readonly { readonly id: string | null; readonly name: string; readonly input: unknown }[];
  readonly results: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface Wire {
  readonly title: string;
  /** The model as agents name it. */
  readonly model: string;
  /** True if the wire carries reasoning that must go back. */
  readonly reasoning: boolean;
  /** True if a tool call's arguments are a text, which may be no JSON. */
  readonly textArguments: boolean;
  /** The environment that leads to a server. */
  env(url: string): Readonly<Record<string, string>>;
  /** The frames of a reply; the last one or more say that it is whole. */
  frames(reply: WireReply): readonly string[];
  /** Frames of a reply that has begun with this text and is not yet whole. */
  beginning(text: string): readonly string[];
  /** What is known of usage after the beginning. */
  readonly earlyUsage: Usage | null;
  readonly overflow: Answer;
  error(message: string): unknown;
  read(body: string): SentBack;
  /** The field of the request that holds the growing context. */
  readonly growing: string;
}

export const KEY = "key-of-the-test";

export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A JSON list of objects, wherever it came from. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

export function parsed(body: string): Fields {
  return JSON.parse(body) as Fields;
}
