/**
 * Owns the way from a stream's parts to a reply.
 *
 * Invariants:
 *  1. Parts stand in the reply in the order in which they began in the stream.
 *  2. Stream parts it does not know change nothing.
 *  3. A reply is whole only if the stream said why it ended; anything else is a failure.
 */

import type { ModelCallOptions, ModelReply } from "../../contracts/model.ts";
import { type Json, jsonNestsDeeper } from "../../core/values/json.ts";
import type { ReplyPart, ToolCallPart, Usage } from "../../core/values/message.ts";
import { PLAIN_DEPTH } from "../../plain-json.ts";
import type { StreamPart } from "./language-model.ts";
import { joinData, keepData, lastingData, type ProviderData, providerDataOf } from "./provider-data.ts";
import { type SeenUsage, usageOfChunk, usageOfSeen } from "./wire-usage.ts";

type Finish = Extract<StreamPart, { type: "finish" }>;

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  data: ProviderData;
}

/** What a piece of a reply costs beside its text: pieces without any are bounded too. */
const PIECE_BYTES = 64;

type Piece = Block | { readonly type: "tool-call"; readonly call: ToolCallPart; readonly data: ProviderData };

/** How a stream ended that gave no reply. */
export type Unfinished = "cut" | "failed";

export interface ReplyAssembly {
  /** Takes a part. Returns true if it brought the reply on: a sign of life alone does not. */
  take(part: StreamPart): boolean;
  usage(): Usage | null;
  /** The reply, once the stream has ended. */
  reply(): ModelReply | Unfinished;
}

/** `model` is the name under which the provider's data is kept. */
export function createReplyAssembly(
  model: string,
  { onText, onReceived }: Pick<ModelCallOptions, "onText" | "onReceived">,
): ReplyAssembly {
  const streamedInputs = new Set<string>();
  const pieces: Piece[] = [];
  const open = new Map<string, Block>();
  let seen: SeenUsage = {};
  let finish: Finish | null = null;

  function begin(type: Block["type"], id: string, metadata: unknown): void {
    const block: Block = { type, text: "", data: providerDataOf(metadata) };
    open.set(`${type} ${id}`, block);
    pieces.push(block);
    onReceived?.(PIECE_BYTES);
  }

  function add(type: Block["type"], id: string, delta: string, metadata: unknown): void {
    if (!open.has(`${type} ${id}`)) begin(type, id, undefined);
    const block = open.get(`${type} ${id}`);
    if (block === undefined) return;
    block.text += delta;
    onReceived?.(Buffer.byteLength(delta));
    if (metadata !== undefined) block.data = joinData(block.data, providerDataOf(metadata));
  }

  return {
    take(part) {
      switch (part.type) {
        case "raw":
          seen = { ...seen, ...usageOfChunk(part.rawValue) };
          return false;
        case "text-start":
          begin("text", part.id, part.providerMetadata);
          return true;
        case "text-delta":
          add("text", part.id, part.delta, part.providerMetadata);
          if (part.delta !== "") onText?.(part.delta);
          return true;
        case "text-end":
          add("text", part.id, "", part.providerMetadata);
          return true;
        case "reasoning-start":
          begin("reasoning", part.id, part.providerMetadata);
          return true;
        case "reasoning-delta":
          add("reasoning", part.id, part.delta, part.providerMetadata);
          return true;
        case "reasoning-end":
          add("reasoning", part.id, "", part.providerMetadata);
          return true;
        case "tool-input-start":
          streamedInputs.add(part.id);
          onReceived?.(PIECE_BYTES);
          return true;
        case "tool-input-delta":
          onReceived?.(Buffer.byteLength(part.delta));
          return true;
        case "tool-call":
          // Else its arguments were counted as they came.
          if (!streamedInputs.has(part.toolCallId)) onReceived?.(PIECE_BYTES + Buffer.byteLength(part.input));
          if (part.providerExecuted !== true) {
            const call = { id: part.toolCallId, name: part.toolName, input: inputOf(part.input) };
            pieces.push({
              type: "tool-call",
              call: { type: "tool-call", ...call },
              data: providerDataOf(part.providerMetadata),
            });
          }
          return true;
        case "finish":
          finish = part;
          return true;
        default:
          return (part as { readonly type: string }).type.startsWith("tool-input-");
      }
    },
    usage: () => usageOf(finish, seen),
    reply() {
      const reason = finish?.finishReason.unified;
      if (reason === undefined || reason === "interrupted") return "cut";
      if (reason === "error") return "failed";
      const parts = pieces.flatMap((piece) => partsOf(piece, model));
      return { parts, usage: usageOf(finish, seen), stop: stopOf(reason, parts) };
    },
  };
}

function partsOf(piece: Piece, model: string): readonly ReplyPart[] {
  if (piece.type === "tool-call") return [...about(piece.data, model), piece.call];
  const bare = piece.text === "" && Object.keys(lastingData(piece.data)).length === 0;
  if (bare) return [];
  // A text that is empty holds nothing but data, and must not become an empty line of the reply.
  if (piece.type === "reasoning" || piece.text === "") return [keepData(model, "this", piece.text, piece.data)];
  return [...about(piece.data, model), { type: "text", text: piece.text }];
}

function about(data: ProviderData, model: string): readonly ReplyPart[] {
  const lasting = lastingData(data);
  return Object.keys(lasting).length === 0 ? [] : [keepData(model, "next", "", lasting)];
}

/** The arguments; as they were written when they are no JSON, or nested so deep that nothing should read them. */
function inputOf(text: string): Json {
  if (text.trim() === "") return {};
  if (jsonNestsDeeper(text, PLAIN_DEPTH)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function stopOf(reason: string, parts: readonly ReplyPart[]): ModelReply["stop"] {
  if (reason === "length") return "length";
  if (reason === "content-filter") return "refused";
  return parts.some((part) => part.type === "tool-call") ? "tools" : "end";
}

function usageOf(finish: Finish | null, seen: SeenUsage): Usage | null {
  const input = finish?.usage.inputTokens;
  const output = finish?.usage.outputTokens.total;
  if (input?.total === undefined) return usageOfSeen(seen);
  const cached = input.cacheRead ?? 0;
  return { input: input.total, output: output ?? 0, ...(cached === 0 ? {} : { cachedInput: cached }) };
}
