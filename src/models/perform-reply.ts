/** Does what a scripted reply says: text, calls, failures, pauses. */

import { type ModelCallOptions, ModelFailure, type ModelReply, type ModelRequest } from "../contracts/model.ts";
import type { World } from "../contracts/world.ts";
import { type ReplyPart, replyText, type Usage } from "../core/values/message.ts";
import { abortedCall, callId, estimateUsage, nextCallNumber, streamText } from "./local-reply.ts";
import type { ScriptedReply } from "./scripted-reply.ts";

interface Scene {
  readonly request: ModelRequest;
  readonly options: ModelCallOptions;
  readonly world: Pick<World, "after"> | undefined;
  /** How often the model was asked to continue this context, from 1. */
  readonly attempt: number;
}

/** How long an endless reply pauses before each piece, so that time can end it too. */
const ENDLESS_PAUSE_MS = 10;

export async function performReply(reply: ScriptedReply | string, scene: Scene): Promise<ModelReply> {
  if (typeof reply === "string") return performReply({ kind: "reply", parts: [{ type: "text", text: reply }] }, scene);
  const { options } = scene;
  switch (reply.kind) {
    case "failure":
      throw new ModelFailure(reply.code, reply.message, {
        retryable: reply.retryable,
        ...(reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs }),
        usage: reply.usage === undefined ? { input: 0, output: 0 } : reply.usage,
      });
    case "hang":
      streamText(reply.text, options);
      return await unlessAborted(options.signal, () => new Promise<never>(() => undefined), reply.usage);
    case "endless":
      for (;;) {
        await pause(ENDLESS_PAUSE_MS, scene);
        receive(reply.text, options);
      }
    case "delayed":
      await pause(reply.milliseconds, scene);
      return performReply(reply.reply, scene);
    case "attempts":
      return performReply(reply.replies[scene.attempt - 1] ?? reply.replies.at(-1) ?? "", scene);
    case "reply":
      return performParts(reply, scene);
  }
}

async function performParts(reply: ScriptedReply & { readonly kind: "reply" }, scene: Scene): Promise<ModelReply> {
  const { request, options } = scene;
  let number = nextCallNumber(request.messages);
  const parts = reply.parts.map((part): ReplyPart =>
    part.type === "tool-call" ? { ...part, id: part.id ?? callId(number++) } : part,
  );
  if (reply.paced === undefined) streamText(replyText(parts), options);
  else
    for (const piece of reply.paced.pieces) {
      if (reply.paced.everyMs > 0) await pause(reply.paced.everyMs, scene);
      receive(piece, options);
    }
  return {
    parts,
    usage: reply.usage === undefined ? estimateUsage(request, parts) : reply.usage,
    stop: reply.stop ?? (parts.some((part) => part.type === "tool-call") ? "tools" : "end"),
  };
}

function receive(piece: string, { signal, onText, onReceived }: ModelCallOptions): void {
  if (signal.aborted) throw abortedCall();
  onText?.(piece);
  onReceived?.(Buffer.byteLength(piece));
}

async function pause(milliseconds: number, { world, options: { signal } }: Scene): Promise<void> {
  if (world === undefined)
    throw new ModelFailure("provider-error", "A scripted reply that takes time needs a world.", {
      retryable: false,
      usage: { input: 0, output: 0 },
    });
  let cancel = (): void => undefined;
  try {
    await unlessAborted(signal, () => new Promise<void>((resolve) => (cancel = world.after(milliseconds, resolve))));
  } finally {
    cancel();
  }
}

/** Rejects with an `aborted` failure as soon as the signal aborts. */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>, usage?: Usage): Promise<T> {
  if (signal.aborted) throw abortedCall(usage);
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortedCall(usage));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
