/**
 * The `fetch` that models of the registry are called with: what a server sends is bounded before anything collects it.
 *
 * Invariants:
 *  1. A body that is longer than it may be, or has a longer line, fails with `reply-limit`, and its connection is closed. A line counts because
 *     parsers of event streams, and of JSON, hold one until its end.
 *  2. The body of a refused request is cut at its bound: the status says what happened.
 */

import { ModelFailure } from "../../contracts/model.ts";

const MEBIBYTE = 1_024 * 1_024;

export interface BodyBounds {
  readonly line: number;
  readonly body: number;
  readonly refusal: number;
}

/** A reply of 131,072 tokens in an event for each token takes about 60 MiB. The last event of some wires repeats the whole reply and its request. */
const BOUNDS: BodyBounds = { line: 16 * MEBIBYTE, body: 256 * MEBIBYTE, refusal: MEBIBYTE };
const LINE_END = 10;

export function createBoundedFetch(bounds: BodyBounds = BOUNDS): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const counted = response.body.pipeThrough(status >= 400 ? refusalOf(bounds) : replyOf(bounds));
    return new Response(counted, { status, statusText, headers });
  };
}

function replyOf({ line, body }: BodyBounds): TransformStream<Uint8Array, Uint8Array> {
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

function refusalOf({ refusal }: BodyBounds): TransformStream<Uint8Array, Uint8Array> {
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
