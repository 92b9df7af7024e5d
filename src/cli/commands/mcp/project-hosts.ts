/**
 * Host tools of the project's other stores: each server owns a store file of its own, and a handle belongs to the
 * project. A store that no process owns any more, and that holds open runs of a host, is owned by this process too, so
 * that these runs go on. All others are read, and mail goes to their owners.
 */

import type { ModelProvider } from "../../../contracts/model.ts";
import { createHostTools, type HostTools, type HostToolsOptions } from "../../../host-tools/host-tools.ts";
import type { Alone } from "../../../host-tools/join-host-tools.ts";
import { ErrandError } from "../../../errors.ts";
import type { Errand } from "../../../runtime/errand.ts";
import { visitHostRuns } from "../../../runtime/tasks/visited-host-runs.ts";
import { ownerOf } from "../../../stores/sqlite/ownership.ts";
import { storeTrustStatus } from "../../../runtime/create-runtime.ts";
import type { Host } from "../../host.ts";
import { noticeLines } from "../../problem.ts";
import { openView } from "../../store/open-view.ts";
import { projectFiles, type StoreScope } from "../../store/scope.ts";
import { createStartLock } from "./start-lock.ts";

interface ProjectParts {
  readonly scope: StoreScope;
  /** The store file that this process owns already. */
  readonly own: string;
  readonly host: Pick<Host, "world" | "err">;
  readonly open: (store: string) => Promise<Errand>;
  readonly tools: HostToolsOptions;
  readonly agents: HostTools["agents"];
}

interface ProjectHosts {
  hosts(): Promise<readonly HostTools[]>;
  /** For starts under a key, so that two servers do not start the same work. */
  readonly alone: Alone;
  /** The other files that this process owns. */
  owned(): readonly string[];
  close(withinMs: number): Promise<void>;
}

interface OtherStore {
  readonly hosts: HostTools;
  readonly isOwned: boolean;
  close(withinMs: number): Promise<void>;
}

export function createProjectHosts(parts: ProjectParts): ProjectHosts {
  const { scope, own, host, open, tools, agents } = parts;
  const others = new Map<string, OtherStore>();
  /** Stores that were read before this process owned them: a call may still follow a run there. */
  const replaced: OtherStore[] = [];
  /** What was said of stores that could not be read: each call looks at them again. */
  const told = new Set<string>();
  let closed = false;
  /** One look at the folder after the other. */
  let last: Promise<unknown> = Promise.resolve();

  async function look(): Promise<readonly HostTools[]> {
    if (scope.kind !== "project" || closed) return [];
    for (const path of projectFiles(scope.folder)) {
      if (path === own || others.get(path)?.isOwned === true) continue;
      try {
        await visit(path);
      } catch (error) {
        if (!(error instanceof ErrandError)) throw error;
        if (!told.has(error.message)) host.err(noticeLines(error));
        told.add(error.message);
      }
    }
    return [...others.values()].map((other) => other.hosts);
  }

  async function visit(path: string): Promise<void> {
    if (storeTrustStatus(path).status === "foreign") return;
    const known = others.get(path);
    const visited = known ?? (await visitor(path));
    others.set(path, visited);
    if (ownerOf(path) !== null) return;
    const { runs = [] } = await visited.hosts.list("open");
    if (!runs.some(({ status }) => OPEN.has(status))) return;
    const adopted = await adopt(path);
    if (adopted === null) return;
    others.set(path, adopted);
    replaced.push(visited);
  }

  async function visitor(path: string): Promise<OtherStore> {
    const store = await openView(path);
    const recipient = { path, store, owner: async () => ownerOf(path) };
    const onFailure = (error: ErrandError): void => host.err(noticeLines(error));
    const runs = visitHostRuns(recipient, { world: host.world, models: NO_MODELS, agents, onFailure });
    const read = createHostTools(runs, tools);
    const call: HostTools["call"] = async (name, input, options) => {
      const stopWatching = watchOwner(path);
      try {
        return await read.call(name, input, options);
      } finally {
        stopWatching();
      }
    };
    return { hosts: { ...read, call }, isOwned: false, close: () => store.close() };
  }

  /** Looks again and again while a call waits: if the owner dies, this process goes on with the run. */
  function watchOwner(path: string): () => void {
    let over = false;
    let cancel = (): void => undefined;
    const later = (): void => {
      if (over || closed || others.get(path)?.isOwned === true) return;
      // A look that fails is told to the next call.
      cancel = host.world.after(LOOK_MS, () => void hosts().then(later, later));
    };
    later();
    return () => {
      over = true;
      cancel();
    };
  }

  /** Null if another process was faster. */
  async function adopt(path: string): Promise<OtherStore | null> {
    try {
      const errand = await open(path);
      return {
        hosts: errand.hostTools(tools),
        isOwned: true,
        close: (withinMs) => errand.close({ withinMs }),
      };
    } catch (error) {
      if (error instanceof ErrandError && error.code === "store-owned") return null;
      throw error;
    }
  }

  function hosts(): Promise<readonly HostTools[]> {
    const looked = last.then(look);
    last = looked.catch(() => undefined);
    return looked;
  }

  return {
    hosts,
    // A file or a database that was named is the one store of all servers, and keeps a key unique.
    alone: scope.kind === "project" ? createStartLock(scope.folder, host.world) : (work) => work(),
    owned: () => [...others].filter(([, { isOwned }]) => isOwned).map(([path]) => path),
    async close(withinMs) {
      closed = true;
      await last;
      await Promise.all([...others.values(), ...replaced].map((other) => other.close(withinMs)));
    },
  };
}

/** How often the owner of a store is looked for while a call waits for one of its runs. */
const LOOK_MS = 1_000;

const OPEN: ReadonlySet<string> = new Set(["queued", "working", "input_required"]);

/** Nothing is started in a store that is visited. */
const NO_MODELS: ModelProvider = { resolve: () => ({ unavailable: "runs of another process use its models" }) };
