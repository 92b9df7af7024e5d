/** Compares acknowledgements outside with the journals: posts, answers, messages for the user, unsafe tools. */

import type { Delivery, Outside, OutsidePost } from "../outside.ts";
import type { OpenCall } from "../calls.ts";
import { SECRET } from "../secret.ts";
import { demand } from "./violation.ts";
import { agentById, type WatchedTree } from "./watched-tree.ts";

const ERASED = "failed: The answer was erased together with the other texts of its run.";

/** I1, I12: an acknowledged post is in the journal, and every request for its answer got the same one. */
export function checkPost(post: OutsidePost, tree: WatchedTree | undefined): void {
  const taken = tree?.posts.get(post.id);
  if (post.acknowledged) {
    demand(
      "I12",
      taken !== undefined && !taken.late,
      () => `the post ${post.id} was acknowledged and is not in the journal`,
    );
  }
  const [first] = post.answers;
  for (const answer of post.answers) checkSecret(`an answer to the post ${post.id}`, answer);
  for (const answer of post.answers) {
    // The texts of a run with `cleanup: "delete"` are erased, its answers included.
    if (answer === ERASED && (tree?.erased.size ?? 0) > 0 && post.agent !== post.tree) continue;
    const name = post.kind === "spawn" ? "I1" : "I5";
    demand(name, answer === first, () => `the post ${post.id} was answered by "${first}" and by "${answer}"`);
  }
}

/** At rest every post that needs an answer has ended exactly once. */
export function checkPostEnded(post: OutsidePost, tree: WatchedTree | undefined): void {
  const taken = tree?.posts.get(post.id);
  if (taken === undefined || taken.late || post.kind === "spawn") return;
  demand("I12", post.silent || taken.ended === 1, () => `the post ${post.id} ended ${taken.ended} times`);
}

/** I28: the secret is in no stored, shown or sent text. */
export function checkSecret(where: string, text: string | null): void {
  demand("I28", text === null || !text.includes(SECRET), () => `a configured secret stands in ${where}: ${text}`);
}

/** I9: a model or tool call is open only for a living agent in a turn. */
export function checkCall({ what, agent: id }: OpenCall, trees: Iterable<WatchedTree>): void {
  for (const tree of trees) {
    const agent = agentById(tree, id);
    const needed = agent === undefined || (agent.alive && agent.turn !== null);
    demand("I9", needed, () => `a ${what} goes on for agent ${agent?.number}, which is gone or idle`);
  }
}

/**
 * Channels: each message is delivered at least once, with one id and one text. A repetition is marked, and an
 * acknowledged message is not repeated.
 */
export function checkDelivery(outside: Outside, delivery: Delivery): void {
  const { id, text, repeated } = delivery;
  checkSecret(`the message ${id} for the user`, text);
  const before = outside.deliveries.find((other) => other.id === id);
  demand(
    "channel",
    before === undefined || before.text === text,
    () => `the message ${id} was "${before?.text}" and is "${text}"`,
  );
  demand(
    "channel",
    before === undefined || repeated,
    () => `the message ${id} comes again and is not marked as repeated`,
  );
  demand(
    "channel",
    !outside.acknowledged.has(id),
    () => `the message ${id} comes again though its delivery is on record`,
  );
}

export function checkDelivered(outside: Outside, tree: WatchedTree): void {
  for (const key of tree.sent) {
    const id = `${tree.id}/${key}`;
    const taken = outside.deliveries.some((delivery) => delivery.id === id && delivery.taken);
    demand("channel", taken, () => `the message ${id} for the user was never taken by a channel`);
  }
  for (const { id } of outside.deliveries) {
    const [of, key = ""] = id.split("/");
    demand("channel", of !== tree.id || tree.sent.has(key), () => `a channel was given ${id}, which no row decided`);
  }
}

/** After the close the acknowledgement of every message is recorded, so that none is sent again. */
export function checkAcknowledged(outside: Outside, tree: WatchedTree): void {
  for (const key of tree.sent) {
    const known = outside.acknowledged.has(`${tree.id}/${key}`);
    demand("channel", known, () => `the message ${tree.id}/${key} was taken, and the store does not know`);
  }
}

/** I23: an unsafe tool ran at most once for each call. */
export function checkStrike(outside: Outside, token: string): void {
  const times = outside.strikes.get(token) ?? 0;
  demand("I23", times <= 1, () => `the unsafe call ${token} was executed ${times} times`);
}

/** After any accident the journals have every executed unsafe call. */
export function checkStrikesKnown(outside: Outside, trees: Iterable<WatchedTree>): void {
  const bodies = [...trees].flatMap((tree) => tree.rows.map((row) => row.body ?? ""));
  for (const token of outside.strikes.keys())
    demand(
      "I23",
      bodies.some((body) => body.includes(token)),
      () => `the unsafe call ${token} was executed, and no journal knows of it`,
    );
}
