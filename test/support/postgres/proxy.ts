/** A network connection between a process and its database that tests can cut, at once or at the next COMMIT. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Proxy {
  /** The URL of a database through this proxy. */
  through(url: string): string;
  /** Connects new connections to this port. */
  connectTo(port: number): void;
  /** Cuts all connections. */
  cut(): void;
  /**
   * Cuts the connection of the next COMMIT. `lost`: before it reaches the server. `unanswered`: after the server has
   * answered, and the answer is dropped. Resolves when it is cut.
   */
  cutAtCommit(how: "lost" | "unanswered"): Promise<void>;
  close(): Promise<void>;
}

/** A simple query in the protocol: `Q`, its length, the text, NUL. */
const COMMIT = Buffer.from("Q\0\0\0\u000bcommit\0", "latin1");
/** Its answer: `C`, the length, the tag, NUL. */
const COMMITTED = Buffer.from("C\0\0\0\u000bCOMMIT\0", "latin1");

export async function createProxy(port: number): Promise<Proxy> {
  let target = port;
  const sockets = new Set<Socket>();
  let waiting: { readonly how: "lost" | "unanswered"; readonly done: () => void } | null = null;

  function destroy(...pair: readonly Socket[]): void {
    for (const socket of pair) socket.destroy();
  }

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        destroy(client, upstream);
      });
    }
    let swallow: (() => void) | null = null;
    let answers = Buffer.alloc(0);
    client.on("data", (chunk: Buffer) => {
      const cut = waiting !== null && chunk.includes(COMMIT) ? waiting : null;
      if (cut !== null) waiting = null;
      if (cut?.how === "lost") {
        destroy(client, upstream);
        return cut.done();
      }
      if (cut !== null) swallow = cut.done;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk: Buffer) => {
      if (swallow === null) return void client.write(chunk);
      // Answers to earlier requests may come first.
      answers = Buffer.concat([answers, chunk]);
      if (!answers.includes(COMMITTED)) return;
      destroy(client, upstream);
      swallow();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const own = address !== null && typeof address === "object" ? address.port : 0;
  return {
    through: (url) => url.replace(/:\d+\//, `:${own}/`),
    connectTo: (next) => void (target = next),
    cut: () => destroy(...sockets),
    cutAtCommit: (how) =>
      new Promise((done) => {
        waiting = { how, done };
      }),
    async close() {
      destroy(...sockets);
      server.close();
      await once(server, "close");
    },
  };
}
