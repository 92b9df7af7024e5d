/**
 * A real HTTP model server for the command line: a test says what the root and its children reply, by what they were
 * sent last.
 */

import { openaiCompatible } from "../../models/wires/openai-chat.ts";
import { listOf, parsed, type WireReply } from "../../models/wires/wire.ts";
import { openWireServer, refuse, stream, type WireServer } from "../../models/wires/wire-server.ts";

/** What a model is asked. */
export interface Asked {
  /** The newest message: of the user, or the result of a tool. */
  readonly role: string;
  readonly text: string;
  readonly body: string;
}

type Replies = (asked: Asked) => WireReply | Promise<WireReply>;

export interface ModelServer extends WireServer {
  /** The options with which a command uses it. */
  readonly options: readonly string[];
}

export async function openModelServer(root: Replies, child: Replies = () => ({ text: "" })): Promise<ModelServer> {
  const server = await openWireServer(async (exchange) => {
    // Somebody only looks whether it is there.
    if (exchange.body === "") return refuse(exchange, 200, {});
    const asked = askedOf(exchange.body);
    const replies = exchange.body.includes("You are a child agent") ? child : root;
    await stream(exchange, openaiCompatible.frames(await replies(asked)));
  });
  return { ...server, options: ["--model", "openai-compatible/m", "--base-url", `${server.url}/v1`] };
}

function askedOf(body: string): Asked {
  const newest = listOf(parsed(body)["messages"]).at(-1) ?? {};
  const { role, content } = newest;
  return { role: String(role), text: typeof content === "string" ? content : JSON.stringify(content), body };
}

/** A reply that calls one tool, with words beside it if given. */
export function calling(name: string, input: object, text?: string): WireReply {
  const calls = [{ id: `call_${name}`, name, arguments: JSON.stringify(input) }];
  return { calls, ...(text === undefined ? {} : { text }) };
}
