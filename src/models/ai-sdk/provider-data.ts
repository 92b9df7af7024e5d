/**
 * A provider's own data (signatures, encrypted reasoning) in the parts of a reply.
 *
 * Of Errand's parts only reasoning parts can hold such data. So data of a text or a tool call are kept in an empty
 * reasoning part before it, marked as data of the next part.
 *
 * Invariant: data is sent back only to the model that it came from. Other models refuse requests with a foreign
 * signature.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { ReasoningPart } from "../../core/values/message.ts";
import { plainJson } from "../../plain-json.ts";

/** By the provider's namespace, then by key. */
export type ProviderData = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface HeldData {
  /** The part that the data belongs to: the reasoning part that holds it, or the part after it. */
  readonly of: "this" | "next";
  readonly data: ProviderData;
}

export function partWithData(model: string, of: HeldData["of"], text: string, data: ProviderData): ReasoningPart {
  return { type: "reasoning", text, data: { model, of, data } };
}

/** The data that `partWithData` put into a part for this model; null if there is none. */
export function dataInPart(part: ReasoningPart, model: string): HeldData | null {
  const { data: held } = part;
  if (!jsonObjectIs(held) || held["model"] !== model) return null;
  const { of, data } = held;
  return (of === "this" || of === "next") && jsonObjectIs(data) ? { of, data: providerDataOf(data) } : null;
}

/** Reads provider data from metadata of the SDK. Leaves out what is not plain JSON. */
export function providerDataOf(metadata: unknown): ProviderData {
  const plain = plainJson(metadata);
  if ("problem" in plain || !jsonObjectIs(plain.json)) return {};
  return Object.fromEntries(
    Object.entries(plain.json).flatMap(([name, value]) => (jsonObjectIs(value) ? [[name, value] as const] : [])),
  );
}

/** Merges the two by namespace. Later values win, except null. */
export function mergeData(first: ProviderData, second: ProviderData): ProviderData {
  const merged: Record<string, Readonly<Record<string, Json>>> = { ...first };
  for (const [name, data] of Object.entries(second)) {
    const values = Object.entries(data).filter(([key, value]) => value !== null || merged[name]?.[key] === undefined);
    merged[name] = { ...merged[name], ...Object.fromEntries(values) };
  }
  return merged;
}

/** The data without nulls, empty namespaces, and ids of items that the provider was told not to store. */
export function dataToKeep(data: ProviderData): ProviderData {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, fields]) => {
      const kept = Object.entries(fields).filter(([key, value]) => key !== "itemId" && value !== null);
      return kept.length === 0 ? [] : [[name, Object.fromEntries(kept)] as const];
    }),
  );
}
