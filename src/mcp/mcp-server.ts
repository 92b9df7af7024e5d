/**
 * A server of the Model Context Protocol over the host tools: the tools, the runs as resources, and tasks for clients
 * that declare the extension. One factory serves the protocol of 2026-07-28 and those of 2025.
 *
 * Invariants:
 *  1. A lost connection ends no run. Only a client that cancels its call cancels the run of that call.
 *  2. A handle that a client gets is durable, and works over every connection and in every server of the project.
 */

import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, Server } from "@modelcontextprotocol/server";
import type { ServerContext } from "@modelcontextprotocol/server";
import type { HostCallOptions } from "../host-tools/host-tools.ts";
import type { McpServerOptions } from "./mcp-options.ts";
import { readRunResource, RUN_TEMPLATES, runResources } from "./run-resources.ts";
import { toolResult } from "./tool-result.ts";
import { declaresTasks, serveTasks, startTask, TASKS_EXTENSION } from "./run-tasks.ts";

/** What a client's model reads about the server as a whole. */
const INSTRUCTIONS =
  "Errand runs other agents for you and keeps their results. A run_id stays valid after a restart of you or of this " +
  "server: find earlier runs with subagent_list and get their results with subagent_wait. Give subagent_start a key " +
  "of your own, so that a repeated call does not start the work twice.";

export function createMcpServer({ hosts, version }: Pick<McpServerOptions, "hosts" | "version">): Server {
  const server = new Server(
    { name: "errand", title: "Errand", version },
    {
      capabilities: { tools: {}, resources: {}, extensions: { [TASKS_EXTENSION]: {} } },
      instructions: INSTRUCTIONS,
    },
  );

  server.setRequestHandler("tools/list", () => ({
    tools: hosts.tools.map(({ name, description, inputSchema, outputSchema, annotations }) => ({
      name,
      title: annotations.title,
      description,
      inputSchema: schemaOf(inputSchema),
      outputSchema: schemaOf(outputSchema),
      annotations,
    })),
  }));

  server.setRequestHandler("tools/call", async ({ params: { name, arguments: input = {} } }, context) => {
    if (!hosts.tools.some((tool) => tool.name === name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(name)}.`);
    if (name === "subagent" && declaresTasks(context)) return startTask(hosts, input);
    return toolResult(await hosts.call(name, input, callOptions(context)));
  });

  server.setRequestHandler("resources/list", async () => ({ resources: runResources(await hosts.list()) }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RUN_TEMPLATES }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => ({
    contents: [await readRunResource(hosts, uri)],
  }));
  serveTasks(server, hosts);
  return server;
}

/** The schemas are plain JSON; clients get copies of their own. */
function schemaOf(schema: object): { readonly type: "object" } {
  return { ...structuredClone(schema), type: "object" };
}

function callOptions({ mcpReq }: ServerContext): HostCallOptions {
  const token = mcpReq._meta?.progressToken;
  return {
    signal: cancelledByClient(mcpReq.signal),
    ...(token === undefined
      ? {}
      : {
          onProgress: ({ count, text }) => {
            const params = { progressToken: token, progress: count, message: text };
            // A client that is gone hears no progress; its call ends by itself.
            mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
          },
        }),
  };
}

/** Aborts when the client cancels the call, and not when the connection is lost. */
function cancelledByClient(signal: AbortSignal): AbortSignal {
  const cancelled = new AbortController();
  const onAbort = (): void => {
    const reason: unknown = signal.reason;
    if (!(reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed)) cancelled.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return cancelled.signal;
}
