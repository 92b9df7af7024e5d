/** A child of Errand: a program that gets one request, and answers with envelopes. It counts the words of files. */

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface Request {
  readonly correlation_id: string;
  readonly files?: readonly string[];
}

// The request is one line. The input stays open: answers to questions would come there.
const lines = createInterface({ input: process.stdin });
lines.once("line", (line) => {
  const { correlation_id, files = [] } = JSON.parse(line) as Request;
  const say = (envelope: object): void => console.log(JSON.stringify({ v: 1, correlation_id, ...envelope }));
  try {
    let words = 0;
    for (const file of files) {
      say({ type: "progress", text: `reading ${file}` });
      words += readFileSync(file, "utf8").split(/\s+/).filter(Boolean).length;
    }
    say({ type: "result", status: "ok", summary: `${words} words`, artifacts: [], data: { words } });
  } catch (error) {
    console.error(error);
    say({ type: "result", status: "error", reason: "unreadable", summary: String(error), artifacts: [] });
  }
  lines.close();
});
