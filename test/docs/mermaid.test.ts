import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Diagram {
  readonly file: string;
  readonly text: string;
}

function diagramsUnder(folder: string): Diagram[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) => {
      const file = join(folder, name);
      const blocks = readFileSync(file, "utf8").matchAll(/^```mermaid\n(.*?)^```$/gms);
      return [...blocks].map(([, text = ""]) => ({ file, text }));
    });
}

const ARROW = /^\s*(\w+)\s*(?:-->>|->>|--x|-x|--\)|-\))[+-]?\s*(\w+)\s*:\s*(.+)$/;
const OPENS = /^\s*(?:alt|opt|loop|par|critical|break|rect|box)\b/;
const DIVIDES = /^\s*(?:else|and|option)\b/;

/** What is wrong with a sequence diagram: every line must be one of the few kinds we write. */
function sequenceProblems(lines: readonly string[]): string[] {
  const known = new Set<string>();
  const problems: string[] = [];
  let depth = 0;
  for (const line of lines) {
    const declared = /^\s*(?:participant|actor)\s+(\w+)(?:\s+as\s+.+)?$/.exec(line)?.[1];
    const arrow = ARROW.exec(line);
    const noted = /^\s*Note (?:over|left of|right of) ([\w,]+): .+$/.exec(line)?.[1];
    if (declared !== undefined) known.add(declared);
    else if (arrow !== null)
      problems.push(
        ...[arrow[1], arrow[2]].flatMap((name = "") => (known.has(name) ? [] : [`unknown participant ${name}`])),
      );
    else if (noted !== undefined)
      problems.push(...noted.split(",").flatMap((name) => (known.has(name) ? [] : [`unknown participant ${name}`])));
    else if (OPENS.test(line)) depth += 1;
    else if (DIVIDES.test(line)) problems.push(...(depth > 0 ? [] : ["a branch outside a block"]));
    else if (/^\s*end$/.test(line)) depth -= 1;
    else problems.push(`not understood: ${line.trim()}`);
    if (depth < 0) return [...problems, "an end without a beginning"];
  }
  return depth === 0 ? problems : [...problems, "a block without an end"];
}

const NODE = String.raw`\w+(?:\(\([^()]+\)\)|\[\([^()]+\)\]|\[[^\[\]{}()]+\]|\{[^\[\]{}()]+\}|\([^()]+\))?`;
const NODES = String.raw`${NODE}(?: & ${NODE})*`;
const LINK = String.raw`(?:-->|---|-- [^-]+ -->)`;
const FLOW_LINE = new RegExp(
  String.raw`^\s*(?:${NODES}(?:\s+${LINK}\s+${NODES})*|subgraph \w+|end|direction (?:TB|TD|LR|RL))$`,
);

function flowProblems(lines: readonly string[]): string[] {
  const opened = lines.filter((line) => /^\s*subgraph /.test(line)).length;
  const closed = lines.filter((line) => /^\s*end$/.test(line)).length;
  const odd = lines.filter((line) => !FLOW_LINE.test(line)).map((line) => `not understood: ${line.trim()}`);
  return opened === closed ? odd : [...odd, "subgraphs and ends do not match"];
}

/** What is wrong with a diagram, as far as its lines tell. */
function diagramProblems(text: string): string[] {
  const [head = "", ...lines] = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return ["it is empty"];
  if (head === "sequenceDiagram") return sequenceProblems(lines);
  if (/^flowchart (?:TB|TD|LR|RL)$/.test(head)) return flowProblems(lines);
  return [`no known type of diagram: ${head}`];
}

const diagrams = diagramsUnder("docs");

test("the page about agents has its three diagrams", () => {
  expect(diagrams.filter(({ file }) => file.endsWith("agents.md"))).toHaveLength(3);
});

test.each(diagrams)("the diagram $# in $file can be read", ({ text }) => {
  expect(diagramProblems(text)).toEqual([]);
});

test("a broken diagram is found", () => {
  const broken = [
    "pie\n  a",
    "sequenceDiagram\n",
    "sequenceDiagram\n  A->>B: hello",
    "sequenceDiagram\n  participant A\n  alt one\n  A->>A: hello",
    "sequenceDiagram\n  participant A\n  A->>A: hello\n  end",
    "sequenceDiagram\n  participant A\n  A=>A: hello",
    "flowchart TD\n  a[open --> b",
    "flowchart TD\n  a{b] --> c",
    "flowchart TD\n  a -> b",
    "flowchart XX\n  a --> b",
    "flowchart TD\n  subgraph one\n  a --> b",
  ];
  for (const text of broken) expect({ text, problems: diagramProblems(text) }).not.toEqual({ text, problems: [] });
});
