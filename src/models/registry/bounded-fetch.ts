/**
 * A `fetch` that limits the bodies that servers send, before anything collects them.
 *
 * Invariants:
 *  1. A body that is too long, or has a line that is too long, fails with `reply-limit`, and its connection is closed.
 *     Lines are limited because parsers of event streams and of JSON hold a line until its end.
 *  2. The body of a refused request is cut at its limit; the status says what happened.
 */

import { ModelFailure } from "../../contracts/model.ts";

const MEBIBYTE = 1_024 * 1_024;

export interface BodyLimits {
  readonly line: number;
  readonly body: number;
  readonly refusal: number;
}

/**
 * A reply of 131,072 tokens with one event for each token takes about 60 MiB. In some protocols the last event repeats
 * the whole reply and its request.
 */
const LIMITS: BodyLimits = { line: 16 * MEBIBYTE, body: 256 * MEBIBYTE, refusal: MEBIBYTE };
const LINE_END = 10;

export function createBoundedFetch(limits: BodyLimits = LIMITS): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const limited = response.body.pipeThrough(status >= 400 ? limitedRefusal(limits) : limitedReply(limits));
    return new Response(limited, { status, statusText, headers });
  };
}

function limitedReply({ line, body }: BodyLimits): TransformStream<Uint8Array, Uint8Array> {
  let all = 0;
  let open = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      all += chunk.length;
      const end = chunk.lastIndexOf(LINE_END);
      open = end === -1 ? open + chunk.length : chunk.length - end - 1;
      if (all > body) throw tooLong(`${body} bytes`);
      if (open > line) throw tooLong(`${line} bytes in one line`);
      controller.enqueue(chunk);
    },
  });
}

function limitedRefusal({ refusal }: BodyLimits): TransformStream<Uint8Array, Uint8Array> {
  let left = refusal;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

function tooLong(most: string): ModelFailure {
  return new ModelFailure("reply-limit", `The server sent more than ${most}, and was cut off.`);
}
