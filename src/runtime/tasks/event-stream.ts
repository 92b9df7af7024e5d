/** A stream of events as users hold it: to iterate over, or to send to a browser as server-sent events. */

import { errorText, ErrandError } from "../../errors.ts";
import type { StreamEvent } from "../../view/readable-event.ts";

/** The events of a task, from its start or from a cursor on. Read it once. */
export interface EventStream<Result> extends AsyncIterable<StreamEvent> {
  /** What came of the task. Rejects where `run` would. It needs the stream to be read. */
  readonly result: Promise<Result>;
  /**
   * The events as server-sent events, each with its cursor as id, so that a browser that reconnects says in
   * `Last-Event-ID` where it was. A failure is an event of type `error` with `code`, `message` and `remedy`.
   */
  toSSE(): ReadableStream<Uint8Array>;
  /** `toSSE` as the response of a web handler. */
  toResponse(): Response;
}

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" } as const;

export function createEventStream<Result>(
  events: AsyncGenerator<StreamEvent, void, void>,
  result: () => Promise<Result>,
): EventStream<Result> {
  const finished = Promise.withResolvers<Result>();
  // A caller that only iterates gets the failure from the iteration.
  finished.promise.catch(() => undefined);

  async function* read(): AsyncGenerator<StreamEvent, void, void> {
    try {
      yield* events;
      const value = await result();
      finished.resolve(value);
    } catch (error) {
      finished.reject(error);
      throw error;
    } finally {
      finished.reject(
        new ErrandError("usage", "The stream was left before the task was done, so it has no result.", {
          remedy: "Read the stream to its end, or ask for the task again under its key.",
        }),
      );
    }
  }

  const stream: EventStream<Result> = {
    result: finished.promise,
    [Symbol.asyncIterator]: read,
    toSSE() {
      const iterator = read();
      const encoder = new TextEncoder();
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          try {
            const next = await iterator.next();
            if (next.done === true) controller.close();
            else controller.enqueue(encoder.encode(eventLines(next.value)));
          } catch (error) {
            controller.enqueue(encoder.encode(failureLines(error)));
            controller.close();
          }
        },
        cancel: async () => {
          await iterator.return();
        },
      });
    },
    toResponse: () => new Response(stream.toSSE(), { headers: HEADERS }),
  };
  return stream;
}

function eventLines(event: StreamEvent): string {
  const id = "cursor" in event ? `id: ${event.cursor}\n` : "";
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function failureLines(error: unknown): string {
  const { code, remedy } = error instanceof ErrandError ? error : { code: "internal-error", remedy: undefined };
  const data = { type: "error", code, message: errorText(error), remedy: remedy ?? null };
  return `event: error\ndata: ${JSON.stringify(data)}\n\n`;
}
