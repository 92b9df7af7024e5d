/**
 * The people outside: they open agents, write, steer, cancel, close, and send mail through a second handle of the
 * store. Every answer is recorded. After a crash they ask again, with the same id, for answers that they did not get.
 */

import { type Agent, type Errand, ErrandError, type OpenAgentOptions, type Store } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { OnStray } from "./calls.ts";
import { createUserChannel } from "./user-channel.ts";
import { sha256 } from "./invariants/chain.ts";
import { Violation } from "./invariants/violation.ts";
import type { Outside, OutsidePost } from "./outside.ts";
import { drawPost, newPost } from "./posts.ts";
import { isFatal, isLockedOut, requireRefusal } from "./refusals.ts";
import { type Plan, ROOTS } from "./plan.ts";
import type { Random } from "./random.ts";
import { type Life, POLL_LATE_MS, type SimulatedWorld } from "./simulated-world.ts";
import type { Troubles } from "./troubles/troubles.ts";
import type { Watch } from "./watch.ts";

interface PeopleParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly watch: Watch;
  readonly outside: Outside;
  readonly plan: Plan;
  readonly token: (agent: string) => string;
  readonly count: (what: string) => void;
  /** A second handle of the store. */
  readonly secondHandle: () => Store;
  readonly onStray: OnStray;
  /** True if the next agent is opened with its first message. */
  readonly startsSpeaking: () => boolean;
  readonly troubles: () => Troubles;
  /**
   * Called when a tree is asked something. The returned function is called once that was accepted or refused.
   */
  readonly onAsked: (tree: string, what: string, life: Life) => () => void;
}

export interface People {
  /** From now on channels take every message. */
  healed: boolean;
  /** Does one random thing with the running Errand. */
  act(errand: Errand, life: Life): void;
  openTree(errand: Errand, life: Life): void;
  /** After a restart: attaches channels again, and asks again for missing answers. */
  comeBack(errand: Errand, life: Life, always: boolean): void;
}

export function createPeople(parts: PeopleParts): People {
  const { random, world, watch, outside, plan, token, count } = parts;
  const refused = (what: string, life: Life) => requireRefusal(watch, what, life);
  const channelFor = (life: Life) =>
    createUserChannel({ ...parts, deaf: () => !people.healed && random.percent(plan.deaf) }, life);
  let opened = 0;
  /** A channel exists while the program holds its agent. */
  const held = new Set<Agent>();
  const hold = (agent: Agent): void => void held.add(agent);

  function anyTree(): string | undefined {
    const trees = [...watch.trees.keys()];
    return trees[random.below(Math.max(1, trees.length))];
  }

  async function ask(errand: Errand, life: Life, post: OutsidePost): Promise<void> {
    post.asked += 1;
    if (post.asked > 1) count("asked again");
    const taken = parts.onAsked(post.tree, `the post ${post.id}`, life);
    try {
      const agent = await errand.agent(post.agent);
      await (post.kind === "spawn" ? spawn(agent, life, post, taken) : write(agent, life, post, taken));
    } catch (error) {
      taken();
      if (life.ended) return;
      if (error instanceof ErrandError && error.code === "turn-failed") {
        post.acknowledged = true;
        post.settled = true;
        post.answers.push(`failed: ${error.message}`);
        return;
      }
      if (error instanceof ErrandError && error.code === "turn-timeout") {
        count("await timed out");
        return;
      }
      if (error instanceof ErrandError && (isFatal(error) || isLockedOut(error))) return;
      post.refused = true;
      post.settled = true;
      refused(`post ${post.id}`, life)(error);
    }
  }

  async function write(agent: Agent, life: Life, post: OutsidePost, taken: () => void): Promise<void> {
    const { id, text, silent } = post;
    const kind = post.kind === "spawn" ? "user" : post.kind;
    await agent.post(text, { id, kind, ...(silent ? { silent } : {}) });
    taken();
    if (life.ended) return;
    post.acknowledged = true;
    if (!post.awaited) {
      post.settled = true;
      return;
    }
    const reply = await agent.postAndAwait(text, { id, kind });
    if (life.ended) return;
    post.settled = true;
    post.answers.push(`${reply.silent ? "silent " : ""}${reply.text}`);
  }

  async function start(errand: Errand, life: Life, options: OpenAgentOptions): Promise<void> {
    const text = `please ${token("people")}`;
    outside.speaking.add(options.agent ?? "");
    try {
      const { agent, id } = await errand.start(text, options);
      hold(agent);
      if (life.ended) return;
      count("started with a message");
      const post = newPost({ id, tree: agent.id, agent: agent.id, kind: "user", silent: false, text, awaited: true });
      post.acknowledged = true;
      outside.posts.push(post);
      void ask(errand, life, post);
    } catch (error) {
      refused("start", life)(error);
    }
  }

  async function spawn(agent: Agent, life: Life, post: OutsidePost, taken: () => void): Promise<void> {
    const to = plan.outside && post.id.endsWith("0") ? { agent: "outer" } : {};
    const asked = { id: post.id, task: post.text, timeoutSeconds: 30, announce: announceOf(post), ...to };
    const run = await agent.spawn(asked);
    taken();
    if (life.ended) return;
    post.acknowledged = true;
    post.settled = true;
    post.answers.push(run.id);
    count("spawned from outside");
  }

  function mail(tree: string): void {
    const what = random.weighted([
      [60, "write"],
      [25, "cancel"],
      [15, "close"],
    ] as const);
    const post = {
      ...drawPost(random, watch.trees.get(tree), tree, `please ${token("people")}`),
      agent: tree,
      byMail: true,
      awaited: false,
      settled: true,
    };
    if (post.kind === "spawn") return;
    const id = asPostId(post.id);
    const silent = post.silent ? ({ silent: true } as const) : {};
    const written = { type: "message-posted", id, to: 0, kind: post.kind, ...silent, size: post.text.length };
    const input: Json =
      what === "write"
        ? written
        : what === "cancel"
          ? { type: "cancel-asked", id, run: null }
          : { type: "close-asked", id };
    const texts = what === "write" ? [post.text] : [];
    const put = {
      tree: asTreeId(tree),
      id,
      hash: sha256(JSON.stringify([input, texts])),
      payload: JSON.stringify({ input, texts }),
    };
    void parts.secondHandle().putMail(put);
    count(`mail ${what}`);
    if (what === "write") outside.posts.push(post);
    // The next poll of a living process is about then.
    world.at(world.now + POLL_LATE_MS, () => {});
  }

  const people: People = {
    healed: false,
    openTree(errand, life) {
      const agent = ROOTS[opened];
      if (agent === undefined) return;
      opened += 1;
      const kind = random.percent(10) ? "background" : "foreground";
      const options = { agent, kind, channel: channelFor(life), data: { root: agent } } as const;
      if (parts.startsSpeaking()) void start(errand, life, options);
      else errand.openAgent(options).then(hold, refused("openAgent", life));
    },
    comeBack(errand, life, always) {
      for (const tree of watch.trees.keys()) {
        errand.agent(tree, { channel: channelFor(life) }).then(hold, refused("attach", life));
      }
      for (const post of outside.posts) {
        if (!post.settled && (always || random.percent(70))) void ask(errand, life, post);
        else if (post.settled && !post.refused && !post.byMail && random.percent(15)) void ask(errand, life, post);
      }
    },
    act(errand, life) {
      const tree = anyTree();
      if (tree === undefined) return people.openTree(errand, life);
      const known = watch.trees.get(tree);
      const runs = [...(known?.runs.values() ?? [])];
      const run = runs[random.below(Math.max(1, runs.length))];
      random.weighted<() => void>([
        [
          60,
          () => {
            const post = drawPost(random, watch.trees.get(tree), tree, `please ${token("people")}`);
            outside.posts.push(post);
            void ask(errand, life, post);
          },
        ],
        [plan.mail ? 20 : 0, () => mail(tree)],
        [
          8,
          () =>
            void errand
              .agent(tree)
              .then((agent) => agent.cancel())
              .catch(refused("cancel", life)),
        ],
        [8, () => (run === undefined ? undefined : void errand.cancel(run.id).catch(refused("cancel", life)))],
        [
          4,
          () =>
            void errand
              .agent(tree)
              .then((agent) => agent.close())
              .catch(refused("close", life)),
        ],
        [6, () => people.comeBack(errand, life, false)],
        [8, () => reuse(errand, life)],
      ])();
    },
  };

  /** The same id with another text is refused. */
  function reuse(errand: Errand, life: Life): void {
    const post = outside.posts.find(
      (known) => known.acknowledged && known.agent === known.tree && known.kind === "user",
    );
    if (post === undefined) return;
    void errand
      .agent(post.tree)
      .then((agent) => agent.post(`other ${post.text}`, { id: post.id }))
      .then(
        () => {
          watch.check(() => {
            throw new Violation("I1", `the id ${post.id} was taken again with other words`);
          });
        },
        (error: unknown) => {
          if (error instanceof ErrandError && error.code === "id-reused") count("id reused");
          else refused("reuse", life)(error);
        },
      );
  }

  return people;
}

/** One spawn in three is announced to no model. The choice depends only on the id, so a repetition makes the same. */
function announceOf({ id }: OutsidePost): "none" | "together" {
  return (id.codePointAt(id.length - 1) ?? 0) % 3 === 0 ? "none" : "together";
}
