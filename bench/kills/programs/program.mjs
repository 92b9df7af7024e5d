/**
 * The process that is killed: `node program.mjs OPTIONS`. It runs one delegation to its answer with one library.
 * After the kill `again` is true, and the program continues from the files in `folder`, as the library's documentation
 * says.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The process waits this long after the answer, so that a second answer would be observed. */
const LINGER_MS = 250;

const options = JSON.parse(process.argv[2]);
const { contender, item, effectsFile, stepMs } = options;
const tell = (message) => void process.send(message);

/** The tool's work: it appends a line with a new id to a file. Two calls append two lines. */
async function record(key) {
  tell({ moment: "tool begun" });
  await sleep(stepMs);
  appendFileSync(effectsFile, `${key} ${process.pid} ${performance.now()}\n`);
  tell({ moment: "tool done" });
  await sleep(stepMs);
  tell({ moment: "tool ended" });
  return `value of ${key}`;
}

let answered;
const answer = new Promise((resolve) => (answered = resolve));
function show(text) {
  tell({ shown: text });
  if (text.includes("answer:")) answered();
}

process.on("disconnect", () => process.exit(1));
try {
  const { delegate } = await import(`./contenders/${contender}.mjs`);
  const given = () => tell({ moment: "given" });
  await delegate({ ...options, question: `delegate ${item}`, record, show, given });
  await answer;
  await sleep(LINGER_MS);
  process.exit(0);
} catch (error) {
  process.send({ failed: String(error?.message ?? error).slice(0, 500) }, () => process.exit(1));
}
