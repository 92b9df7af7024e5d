/** The user who answers questions: soon, late or at the end, through the process or by mail, sometimes twice. */

import { type Errand, ErrandError, type GivenAnswer, type Store } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { sha256 } from "./invariants/chain.ts";
import type { WatchedQuestion } from "./invariants/watched-tree.ts";
import { Violation } from "./invariants/violation.ts";
import type { Random } from "./random.ts";
import { type Life, POLL_LATE_MS, type SimulatedWorld } from "./simulated-world.ts";
import type { Watch } from "./watch.ts";

interface AnswersParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly watch: Watch;
  readonly count: (what: string) => void;
  readonly secondHandle: () => Store;
  readonly machine: () => { readonly errand: Errand | null; readonly life: Life | null };
}

export interface Answers {
  /** From now on every question is answered. */
  healed: boolean;
  asked(tree: string, key: string): void;
  /** Answers all open questions. */
  answerAll(): void;
}

const WAITS = [10, 500, 5_000, 60_000, 400_000, null] as const;
const DOWN_MS = 1_000;
/** Expected refusals: the question was answered before, its turn has ended, or the process stops. */
const EXPECTED = new Set<string>([
  "question-closed",
  "answer-unfit",
  "store-failed",
  "store-full",
  "store-busy",
  "tree-quarantined",
  "commit-unknown",
  "shutting-down",
  "store-closed",
]);

export function createAnswers({ random, world, watch, count, secondHandle, machine }: AnswersParts): Answers {
  /** What the user says to an outside child, in the end something that fits; null to refuse. */
  function wordsFor(ask: NonNullable<WatchedQuestion["ask"]>, healed: boolean): string | null {
    if (random.percent(25)) return null;
    if (!healed && random.percent(10)) return " ";
    const [first, ...others] = ask.choices;
    return first === undefined ? `say ${random.hex(6)}` : random.pick([first, ...others]);
  }

  /** An answer to an outside child. One that does not fit leaves the question open. */
  function tellChild(errand: Errand, life: Life, tree: string, key: string, ask: WatchedQuestion["ask"]): void {
    if (ask === undefined) return;
    const text = wordsFor(ask, answers.healed);
    if (random.percent(15)) return byMail(tree, key, text !== null, text);
    give(errand, life, `${tree}/${key}`, text === null ? { allow: false } : { text });
    if (text === " ") world.at(world.now + DOWN_MS, () => answer(tree, key));
  }

  function byMail(tree: string, key: string, allow: boolean, words: string | null = null): void {
    const id = asPostId(`${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`);
    const input = { type: "answer-given", id, question: key, allow, ...(words === null ? {} : { text: true }) };
    const texts = [words ?? ""];
    const hash = sha256(JSON.stringify([input, texts]));
    void secondHandle().putMail({ tree: asTreeId(tree), id, hash, payload: JSON.stringify({ input, texts }) });
    count("mail answer");
    // The next poll of a living process is about then.
    world.at(world.now + POLL_LATE_MS, () => {});
  }

  function answer(tree: string, key: string): void {
    const { errand, life } = machine();
    const question = watch.trees.get(tree)?.questions.get(key);
    if (question === undefined) return;
    if (errand === null || life === null) return world.at(world.now + DOWN_MS, () => answer(tree, key));
    if (question.ask !== undefined) return tellChild(errand, life, tree, key, question.ask);
    const allow = random.percent(60);
    if (random.percent(15)) return byMail(tree, key, allow);
    give(errand, life, `${tree}/${key}`, { allow });
    if (random.percent(10)) give(errand, life, `${tree}/${key}`, { allow: !allow });
  }

  function give(errand: Errand, life: Life, question: string, given: GivenAnswer): void {
    errand.answer(question, given).then(
      () => count("text" in given ? "answered a child" : given.allow ? "answered yes" : "answered no"),
      (error: unknown) => {
        if (life.ended) return;
        if (error instanceof ErrandError && EXPECTED.has(error.code)) return count(`answer ${error.code}`);
        watch.check(() => {
          throw new Violation("failure", `the answer to ${question} was refused: ${String(error)}`);
        });
      },
    );
  }

  const answers: Answers = {
    healed: false,
    asked(tree, key) {
      const wait = random.pick(WAITS);
      if (this.healed) world.at(world.now + 10, () => answer(tree, key));
      else if (wait !== null) world.at(world.now + wait, () => answer(tree, key));
    },
    answerAll() {
      for (const tree of watch.trees.values()) for (const key of tree.questions.keys()) answer(tree.id, key);
    },
  };
  return answers;
}
