/**
 * Streaming to a browser: a web handler answers with server-sent events. A client that lost its connection says in
 * `Last-Event-ID` where it was, and gets the rest of the same task.
 */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createErrand } from "errand";
import { byTask, createScriptedModels, delegate, report, say } from "errand/testing";

const models = createScriptedModels({
  "scripted/model": byTask({
    "Compare the logs.": [delegate("Read a.log."), say("The newer log has one more error.")],
    "Read a.log.": [report("2 errors")],
  }),
});
const errand = await createErrand({ store: "memory", models: [models], model: "scripted/model" });

/** With a framework that takes a `Response`, only the first two lines are needed. */
async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const after = request.headers["last-event-id"];
  const answer = errand.stream("Compare the logs.", { key: "logs 1", ...(after ? { after: String(after) } : {}) });
  const { status, headers, body } = answer.toResponse();
  response.writeHead(status, Object.fromEntries(headers));
  for await (const chunk of body ?? []) response.write(chunk);
  response.end();
}

const server = createServer((request, response) => void handle(request, response));
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;

async function read(headers: Record<string, string> = {}): Promise<readonly (readonly [string, string])[]> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  const events = (await response.text()).trimEnd().split("\n\n");
  return events.map((event) => [/^event: (.+)$/m.exec(event)?.[1] ?? "", /^id: (.+)$/m.exec(event)?.[1] ?? ""]);
}

const all = await read();
console.log(all.map(([type]) => type).join(", "));
const types = all.map(([type]) => type);
for (const type of ["run-started", "run-reported", "run-ended", "message"]) assert.ok(types.includes(type), type);
assert.equal(types.at(-1), "rest");

const ended = all.find(([type]) => type === "run-ended");
const rest = await read({ "Last-Event-ID": ended?.[1] ?? "" });
console.log(`after run-ended: ${rest.map(([type]) => type).join(", ")}`);
assert.ok(!rest.some(([type]) => type === "run-ended"));
assert.ok(rest.some(([type]) => type === "message"));
assert.equal(models.requests.length, 3);

server.close();
await errand.close();
