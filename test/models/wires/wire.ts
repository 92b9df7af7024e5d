/** A provider's protocol for tests: streams of its server, its requests, its errors. */

import type { Usage } from "../../../src/index.ts";

export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** The group that the tool belongs to, for clients of OpenAI's responses API that group tools. */
  readonly namespace?: string;
  /** The arguments as text. */
  readonly arguments: string;
}

export interface WireReply {
  readonly reasoning?: { readonly text: string; readonly signature: string };
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
  readonly stop?: "end" | "tools" | "length" | "refused";
}

/** The earlier replies and results in a request. */
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
  /** True if reasoning must be sent back. */
  readonly reasoning: boolean;
  /** True if the arguments of a call are text, which may not be JSON. */
  readonly textArguments: boolean;
  /** The environment for a server. */
  env(url: string): Readonly<Record<string, string>>;
  /** The frames of a complete reply. */
  frames(reply: WireReply): readonly string[];
  /** The frames of a reply that begins with this text and is not complete. */
  beginning(text: string): readonly string[];
  /** The usage that is reported at the beginning. */
  readonly earlyUsage: Usage | null;
  readonly overflow: Answer;
  error(message: string): unknown;
  read(body: string): SentBack;
  /** The field of the request with the context. */
  readonly growing: string;
}

export const KEY = "key-of-the-test";

export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export type Fields = Readonly<Record<string, unknown>>;

/** A JSON list of objects. */
export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

export function parsed(body: string): Fields {
  return JSON.parse(body) as Fields;
}
