/** A real HTTP server whose behaviour the test sets for each request. It closes when the test ends. */

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Exchange {
  /** From 1. */
  readonly number: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly response: ServerResponse;
  /** Resolves when the connection is closed or the answer is complete: true if it is complete. */
  readonly closed: Promise<boolean>;
}

export interface WireServer {
  readonly url: string;
  readonly exchanges: readonly Exchange[];
  /** The exchange with this number, when it begins. */
  exchange(number: number): Promise<Exchange>;
}

export type Behaviour = (exchange: Exchange) => void | Promise<void>;

export async function openWireServer(behave: Behaviour): Promise<WireServer> {
  const exchanges: Exchange[] = [];
  const waiting = new Map<number, (exchange: Exchange) => void>();
  const server = createServer((request, response) => {
    const closed = new Promise<boolean>((resolve) => response.on("close", () => resolve(response.writableEnded)));
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const { url = "", headers } = request;
      const exchange = { number: exchanges.length + 1, path: url, headers, body, response, closed };
      exchanges.push(exchange);
      waiting.get(exchange.number)?.(exchange);
      void behave(exchange);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    exchange: (number) =>
      new Promise((resolve) => {
        const there = exchanges[number - 1];
        if (there === undefined) waiting.set(number, resolve);
        else resolve(there);
      }),
  };
}

/** Begins a stream with these frames and leaves it open. */
export function begin({ response }: Exchange, frames: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(frames.join(""));
}

/** Streams these frames, each on its own, and ends. */
export async function stream(exchange: Exchange, frames: readonly string[]): Promise<void> {
  begin(exchange, []);
  for (const frame of frames) {
    exchange.response.write(frame);
    await new Promise((resolve) => setImmediate(resolve));
  }
  exchange.response.end();
}

export function refuse(
  { response }: Exchange,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
