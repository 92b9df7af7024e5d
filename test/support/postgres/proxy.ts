/** A network between a process and its database that tests can cut: at once, or at the moment a COMMIT is sent. */

import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Proxy {
  /** The URL of a database, through this network. */
  through(url: string): string;
  /** From now on connections lead to this port. */
  leadTo(port: number): void;
  /** Cuts all connections that there are. */
  cut(): void;
  /**
   * Cuts the connection of the next COMMIT: `lost`, before the server has it; `unanswered`, once the server has answered it, and the answer
   * is swallowed. Resolves when it is done.
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
      // What was sent before the COMMIT may be answered before it.
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
    leadTo: (next) => void (target = next),
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
