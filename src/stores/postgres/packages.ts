/**
 * The packages that only a PostgreSQL store needs. They are optional peer dependencies of Errand, so that users of
 * other stores do not install them.
 *
 * Invariant: loading graphile-worker executes and reads nothing in the working folder or the folders above it. At
 * import it searches there for settings of older versions, with a package that executes what it finds. Errand replaces
 * that package by one that finds nothing.
 */

import { createRequire, registerHooks } from "node:module";
import type * as GraphileWorker from "graphile-worker";
import { ErrandError } from "../../errors.ts";

const NEEDED = ["pg", "graphile-worker"] as const;
/** The versions are those of `peerDependencies`. */
const INSTALL = "npm install pg@8 graphile-worker@0.18";

/** The part of cosmiconfig that graphile-worker uses. */
const SEARCH_WITHOUT_RESULT =
  "data:text/javascript,export const cosmiconfigSync = () => ({ search: () => null, load: () => null });";

/** Throws `package-missing` if one of the packages is not installed beside Errand. Loads none of them. */
export function requirePackages(): void {
  const { resolve } = createRequire(import.meta.url);
  const missing = NEEDED.filter((name) => !resolves(resolve, name));
  if (missing.length === 0) return;
  const one = missing.length === 1;
  const needed = one ? `the package ${missing[0]}, which is` : `the packages ${missing.join(" and ")}, which are`;
  throw new ErrandError("package-missing", `A PostgreSQL store needs ${needed} not installed.`, {
    remedy: `Install ${one ? "it" : "them"} where Errand is installed: ${INSTALL} (add -g for a global installation).`,
    details: { packages: missing.join(" ") },
  });
}

function resolves(resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    return resolve(name) !== "";
  } catch {
    return false;
  }
}

/** Loaded only for dispatching: it takes longer to load than a command line may take to start. */
export async function loadGraphileWorker(): Promise<typeof GraphileWorker> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const searching = specifier === "cosmiconfig" && (context.parentURL ?? "").includes("/graphile-worker/");
      if (!searching) return next(specifier, context);
      return { url: SEARCH_WITHOUT_RESULT, format: "module", shortCircuit: true };
    },
  });
  try {
    return await import("graphile-worker");
  } finally {
    hooks.deregister();
  }
}
