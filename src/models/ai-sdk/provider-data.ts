/**
 * Owns how a provider's own data (signatures, encrypted thoughts) lives in a reply's parts.
 *
 * Errand's parts have room for such data in reasoning parts only. What a provider attaches to a text or to a tool call is therefore
 * kept in an empty reasoning part before it, which says that it is about the next part.
 *
 * Invariant: data goes back to the model it came from and to no other: a signature of one model makes another refuse the request.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ReasoningPart } from "../../core/values/message.ts";
import { plainJson } from "../../plain-json.ts";

/** By the provider's namespace, then by key. */
export type ProviderData = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface KeptData {
  /** What it is about: the reasoning part that holds it, or the part after that. */
  readonly of: "this" | "next";
  readonly data: ProviderData;
}

/** A reasoning part that keeps a provider's data. */
export function keepData(model: string, of: KeptData["of"], text: string, data: ProviderData): ReasoningPart {
  return { type: "reasoning", text, data: { model, of, data } };
}

/** What a reasoning part keeps, if it was made by this adapter for this model. */
export function keptData(part: ReasoningPart, model: string): KeptData | null {
  const { data } = part;
  if (!jsonObjectIs(data) || data["model"] !== model) return null;
  const { of, data: held } = data;
  return (of === "this" || of === "next") && jsonObjectIs(held) ? { of, data: providerDataOf(held) } : null;
}

/** Reads provider data from an SDK's metadata, or from a body; what is no plain JSON is left out. */
export function providerDataOf(metadata: unknown): ProviderData {
  const plain = plainJson(metadata);
  if ("problem" in plain || !jsonObjectIs(plain.json)) return {};
  return Object.fromEntries(
    Object.entries(plain.json).flatMap(([name, value]) => (jsonObjectIs(value) ? [[name, value] as const] : [])),
  );
}

/** Joins two by namespace; what came later wins, unless it is null. */
export function joinData(first: ProviderData, second: ProviderData): ProviderData {
  const joined: Record<string, Readonly<Record<string, Json>>> = { ...first };
  for (const [name, data] of Object.entries(second)) {
    const said = Object.entries(data).filter(([key, value]) => value !== null || joined[name]?.[key] === undefined);
    joined[name] = { ...joined[name], ...Object.fromEntries(said) };
  }
  return joined;
}

/** Without ids of items that the provider was told not to store, and without empty namespaces. */
export function lastingData(data: ProviderData): ProviderData {
  const lasting: Record<string, Readonly<Record<string, Json>>> = {};
  for (const [name, fields] of Object.entries(data)) {
    const held = Object.entries(fields).filter(([key, value]) => key !== "itemId" && value !== null);
    if (held.length > 0) lasting[name] = Object.fromEntries(held);
  }
  return lasting;
}
