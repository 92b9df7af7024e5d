/** Posts that people send. */

import type { WatchedTree } from "./invariants/watched-tree.ts";
import type { OutsidePost } from "./outside.ts";
import type { Random } from "./random.ts";

type Content = Pick<OutsidePost, "id" | "tree" | "agent" | "kind" | "silent" | "text" | "awaited">;

/** A post that was not sent yet. */
export function newPost(content: Content): OutsidePost {
  const sending = { byMail: false, acknowledged: false, refused: false, settled: false, asked: 0, answers: [] };
  return { ...content, ...sending };
}

/** A random post for the tree's root or one of its children. */
export function drawPost(random: Random, known: WatchedTree | undefined, tree: string, text: string): OutsidePost {
  const children = [...(known?.agents.values() ?? [])].filter((agent) => agent.number > 0);
  const child = children[random.below(Math.max(1, children.length))];
  const kind = random.weighted([
    [50, "user"],
    [15, "system"],
    [20, "steer"],
    [15, "spawn"],
  ] as const);
  const silent = kind === "system" && random.percent(50);
  const id = `${random.hex(8)}-${random.hex(4)}-4${random.hex(3)}-8${random.hex(3)}-${random.hex(12)}`;
  const agent = child !== undefined && random.percent(25) ? child.id : tree;
  return newPost({ id, tree, agent, kind, silent, text, awaited: kind !== "spawn" && !silent && random.percent(60) });
}
