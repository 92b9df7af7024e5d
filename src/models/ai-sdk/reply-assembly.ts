/**
 * Turns the parts of a stream into a reply.
 *
 * Invariants:
 *  1. The parts of the reply are in the order in which they began in the stream.
 *  2. Unknown stream parts are ignored.
 *  3. There is a reply only if the stream said why it ended.
 */

import type { LanguageModelV3StreamPart, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelCallOptions, ModelReply } from "../../contracts/model.ts";
import { type Json, jsonNestsDeeper } from "../../core/values/json.ts";
import type { ReplyPart, ToolCallPart, Usage } from "../../core/values/message.ts";
import { PLAIN_DEPTH } from "../../plain-json.ts";
import { dataToKeep, mergeData, partWithData, type ProviderData, providerDataOf } from "./provider-data.ts";
import { type PartialUsage, usageOfChunk, usageSeen } from "./streamed-usage.ts";

type StreamPart = LanguageModelV3StreamPart | LanguageModelV4StreamPart;
type Finish = Extract<StreamPart, { type: "finish" }>;

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  data: ProviderData;
}

/** Bytes that each piece counts besides its text, so that a reply of empty pieces is limited too. */
const PIECE_BYTES = 64;

type Piece = Block | { readonly type: "tool-call"; readonly call: ToolCallPart; readonly data: ProviderData };

export interface ReplyAssembly {
  /** Takes a part of the stream. Returns true if it belongs to the reply. */
  take(part: StreamPart): boolean;
  usage(): Usage | null;
  /** Call it when the stream has ended. `failed`: the stream ended with an error. */
  reply(): ModelReply | "incomplete" | "failed";
}

/** `model` is the name under which the reply keeps the provider's data. */
export function createReplyAssembly(
  model: string,
  { onText, onReceived }: Pick<ModelCallOptions, "onText" | "onReceived">,
): ReplyAssembly {
  const streamedInputs = new Set<string>();
  const pieces: Piece[] = [];
  const open = new Map<string, Block>();
  let seen: PartialUsage = {};
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
    if (metadata !== undefined) block.data = mergeData(block.data, providerDataOf(metadata));
  }

  return {
    take(part) {
      switch (part.type) {
        case "raw":
          seen = { ...seen, ...usageOfChunk(part.rawValue) };
          return false;
        case "text-start":
        case "reasoning-start":
          begin(blockTypeOf(part.type), part.id, part.providerMetadata);
          return true;
        case "text-delta":
        case "reasoning-delta":
          add(blockTypeOf(part.type), part.id, part.delta, part.providerMetadata);
          if (part.type === "text-delta" && part.delta !== "") onText?.(part.delta);
          return true;
        case "text-end":
        case "reasoning-end":
          add(blockTypeOf(part.type), part.id, "", part.providerMetadata);
          return true;
        case "tool-input-start":
          streamedInputs.add(part.id);
          onReceived?.(PIECE_BYTES);
          return true;
        case "tool-input-delta":
          onReceived?.(Buffer.byteLength(part.delta));
          return true;
        case "tool-call":
          // Streamed arguments were counted when they arrived.
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
      if (reason === undefined || reason === "interrupted") return "incomplete";
      if (reason === "error") return "failed";
      const parts = pieces.flatMap((piece) => partsOf(piece, model));
      return { parts, usage: usageOf(finish, seen), stop: stopOf(reason, parts) };
    },
  };
}

function blockTypeOf(type: `${Block["type"]}-${string}`): Block["type"] {
  return type.startsWith("text-") ? "text" : "reasoning";
}

function partsOf(piece: Piece, model: string): readonly ReplyPart[] {
  const data = dataToKeep(piece.data);
  const hasData = Object.keys(data).length > 0;
  if (piece.type !== "tool-call") {
    if (piece.text === "" && !hasData) return [];
    // A text part without text only carries data. As a text it would be an empty line of the reply.
    if (piece.type === "reasoning" || piece.text === "") return [partWithData(model, "this", piece.text, piece.data)];
  }
  const part: ReplyPart = piece.type === "tool-call" ? piece.call : { type: "text", text: piece.text };
  return hasData ? [partWithData(model, "next", "", data), part] : [part];
}

/** The arguments as JSON; their text if they are not JSON or are nested too deeply. */
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

function usageOf(finish: Finish | null, seen: PartialUsage): Usage | null {
  const input = finish?.usage.inputTokens;
  const output = finish?.usage.outputTokens.total;
  if (input?.total === undefined) return usageSeen(seen);
  const cached = input.cacheRead ?? 0;
  return { input: input.total, output: output ?? 0, ...(cached === 0 ? {} : { cachedInput: cached }) };
}
