/**
 * What a library adds to what its user wrote, in tokens (o200k_base): the system prompt and the tools of a parent and of a child, and how a
 * child's result of four words is put before its parent's model. The user wrote the same prompts, tool and task for all of them.
 */
import { getEncoding } from "js-tiktoken";
import { askOne, sent } from "../script.mjs";

export async function prepare() {}

export async function measure({ contender }) {
  const library = await import(`../contenders/${contender}.mjs`);
  const session = await library.open({ path: null, durability: "full" });
  await (
    await session.conversation()
  )(askOne(1));
  const encoding = getEncoding("o200k_base");
  const count = (text) => encoding.encode(text).length;
  const both = ({ system, tools }) => count(system) + count(JSON.stringify(tools ?? []));
  return { parent: both(sent.parent), child: both(sent.child), result: count(sent.result) };
}
