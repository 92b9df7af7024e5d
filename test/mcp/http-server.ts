/** The HTTP handler behind a server of Node.js on a free port of this machine. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { McpHttpHandler } from "../../src/mcp/index.ts";

export interface HttpServer {
  readonly url: URL;
  close(): Promise<void>;
}

const LOCAL = /^(?:http:\/\/)?(?:127\.0\.0\.1|localhost)(?::\d+)?$/;

/** As the guide says, it refuses requests to another host, and those of web pages from elsewhere. */
export async function serveHttp(handler: McpHttpHandler): Promise<HttpServer> {
  const server = createServer((request, response) => {
    void (async () => {
      const { host = "", origin = host } = request.headers;
      if (!LOCAL.test(host) || !LOCAL.test(origin)) {
        response.writeHead(403).end();
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const headers = new Headers();
      for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
      const answer = await handler.fetch(
        new Request(`http://${host}${request.url ?? "/"}`, {
          method: request.method ?? "GET",
          headers,
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (answer.body === null) response.end();
      else Readable.fromWeb(answer.body).pipe(response);
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/mcp`),
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
