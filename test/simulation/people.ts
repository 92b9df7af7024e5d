/**
 * The people outside: they open agents, write, steer, cancel, close, ask again after a crash, and send mail through a
 * second handle of the store. What they were told is recorded; what a dead process owed them they ask for again under
 * the same id.
 */

import {
  type Agent,
  type Channel,
  type Errand,
  ErrandError,
  type OpenAgentOptions,
  type Store,
} from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import type { Json } from "../../src/core/values/json.ts";
import { type OnStray, unheard } from "./calls.ts";
import { checkDelivery } from "./invariants/outside-checks.ts";
import { sha256 } from "./invariants/chain.ts";
import { Violation } from "./invariants/violation.ts";
import type { Outside, OutsidePost } from "./outside.ts";
import { type Plan, ROOTS } from "./plan.ts";
import type { Random } from "./random.ts";
import { type Life, POLL_LATE_MS, type SimulatedWorld } from "./simulated-world.ts";
import { deliveryTrouble } from "./troubles/channels.ts";
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
  /** The store through a handle of its own. */
  readonly secondHandle: () => Store;
  readonly onStray: OnStray;
  /** True: the next agent is opened with its first message. */
  readonly startsSpeaking: () => boolean;
  readonly troubles: () => Troubles;
  /**
   * Told when something is asked of a tree. The function that it gives is called when that has been taken, or refused.
   */
  readonly onAsked: (tree: string, what: string, life: Life) => () => void;
}

export interface People {
  /** Channels take everything from now on. */
  healed: boolean;
  /** Does something to the running Errand. */
  act(errand: Errand, life: Life): void;
  openTree(errand: Errand, life: Life): void;
  /** After a restart: listens again, and asks again for what was not answered. */
  comeBack(errand: Errand, life: Life, always: boolean): void;
}

export function createPeople(parts: PeopleParts): People {
  const { random, world, watch, outside, plan, token, count } = parts;
  let opened = 0;
  /** Channels last for as long as somebody holds the agent. */
  const held = new Set<Agent>();
  const hold = (agent: Agent): void => void held.add(agent);

  function channelFor(life: Life): Channel {
    return {
      deliver(message) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        // It may repeat what it finds in the store, and so may later processes: with the same id, and marked.
        const stray = message.repeated ? () => undefined : parts.onStray;
        if (unheard(life, "tells the user something", stray)) return promise;
        const delivery = { id: message.id, text: message.text, repeated: message.repeated, taken: false, slow: false };
        watch.check(() => checkDelivery(outside, delivery));
        outside.deliveries.push(delivery);
        if (message.repeated) count("delivery repeated");
        const take = (): void => {
          delivery.taken = true;
          resolve();
        };
        if (deliveryTrouble({ troubles: parts.troubles(), world, life, count, delivery, take, reject })) return promise;
        const fails = !people.healed && random.percent(plan.deaf);
        const answer = (): void => {
          if (fails) {
            count("delivery failed");
            return reject(new Error("nobody there"));
          }
          take();
        };
        world.at(world.now + random.pick([0, 0, 20, 500]), answer, life);
        return promise;
      },
    };
  }

  /** What people do may be refused, by design; anything but a refusal is a bug. */
  function refused(what: string, life: Life): (error: unknown) => void {
    return (error) => {
      if (life.ended || (error instanceof ErrandError && (EXPECTED.has(error.code) || lockedOut(error)))) return;
      watch.check(() => {
        throw new Violation("failure", `${what} was refused: ${String(error)}`);
      });
    };
  }

  function anyTree(): string | undefined {
    const trees = [...watch.trees.keys()];
    return trees[random.below(Math.max(1, trees.length))];
  }

  function newPost(tree: string): OutsidePost {
    const known = watch.trees.get(tree);
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
    return {
      id,
      tree,
      agent: child !== undefined && random.percent(25) ? child.id : tree,
      kind,
      silent,
      text: `please ${token("people")}`,
      awaited: kind !== "spawn" && !silent && random.percent(60),
      byMail: false,
      acknowledged: false,
      refused: false,
      settled: false,
      asked: 0,
      answers: [],
    };
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
      if (error instanceof ErrandError && (FATAL.has(error.code) || lockedOut(error))) return;
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
      const post: OutsidePost = {
        id,
        tree: agent.id,
        agent: agent.id,
        kind: "user",
        silent: false,
        text,
        awaited: true,
        byMail: false,
        acknowledged: true,
        refused: false,
        settled: false,
        asked: 0,
        answers: [],
      };
      outside.posts.push(post);
      void ask(errand, life, post);
    } catch (error) {
      refused("start", life)(error);
    }
  }

  async function spawn(agent: Agent, life: Life, post: OutsidePost, taken: () => void): Promise<void> {
    const run = await agent.spawn({ id: post.id, task: post.text, timeoutSeconds: 30, announce: announceOf(post) });
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
    const post = { ...newPost(tree), agent: tree, byMail: true, awaited: false, settled: true };
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
    // The next poll of a living process comes about then.
    world.at(world.now + POLL_LATE_MS, () => {});
  }

  const people: People = {
    healed: false,
    openTree(errand, life) {
      const agent = ROOTS[opened];
      if (agent === undefined) return;
      opened += 1;
      const kind = random.percent(10) ? "background" : "foreground";
      const options = { agent, kind, channel: channelFor(life) } as const;
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
            const post = newPost(tree);
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

  /** The same id with other words is refused. */
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

/** A store that is locked, or a tree that was set aside, says so: it is asked again later. */
function lockedOut({ code, message }: ErrandError): boolean {
  return code === "tree-quarantined" || (code === "store-busy" && message.includes("simulation"));
}

/** Refusals that are by design: the agent is gone, the spawn is over a limit, the process stops. */
const EXPECTED = new Set<string>([
  "agent-unknown",
  "inbox-full",
  "usage",
  "store-failed",
  "store-full",
  "commit-unknown",
  "shutting-down",
  "store-closed",
]);
/** The process stops: what was asked is asked again. */
const FATAL = new Set<string>(["store-failed", "store-full", "commit-unknown", "shutting-down", "store-closed"]);

/** One spawn in three is announced to no model. Asked again under its id, it is the same. */
function announceOf({ id }: OutsidePost): "none" | "together" {
  return (id.codePointAt(id.length - 1) ?? 0) % 3 === 0 ? "none" : "together";
}
