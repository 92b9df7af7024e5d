/**
 * The packages that npm installs with Errand: all that package-lock.json reaches from `dependencies`, without optional
 * peers. Plain JavaScript, Node 18 or newer.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * @typedef {{ version: string, license?: string, hasInstallScript?: boolean, dependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string>,
 *   peerDependenciesMeta?: Record<string, { optional?: boolean }> }} LockedPackage
 * @typedef {{ name: string, path: string, version: string, license: string, installScript: boolean,
 *   bytes: number }} RuntimePackage
 */

/** Scripts that npm runs when a package is installed. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/**
 * The packages in the order in which they are reached.
 * @param {string} root
 * @returns {RuntimePackage[]}
 */
export function runtimeTree(root) {
  /** @type {Record<string, LockedPackage>} */
  const locked = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  /** @type {Set<string>} */
  const reached = new Set();
  /** @param {string} from */
  const follow = (from) => {
    for (const name of neededBy(locked[from])) {
      const path = placeOf(locked, from, name);
      if (path === null) throw new Error(`package-lock.json has no ${name} for ${from === "" ? "errand" : from}`);
      if (reached.has(path)) continue;
      reached.add(path);
      follow(path);
    }
  };
  follow("");
  return [...reached].map((path) => packageAt(root, path, locked[path]));
}

/** @param {LockedPackage | undefined} locked */
function neededBy(locked) {
  const {
    dependencies = {},
    optionalDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta = {},
  } = locked ?? {};
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true);
  return [...new Set([...Object.keys(dependencies), ...Object.keys(optionalDependencies), ...peers])];
}

/**
 * The folder in which a package finds another: its own node_modules, or one above it.
 * @param {Record<string, LockedPackage>} locked
 * @param {string} from
 * @param {string} name
 * @returns {string | null}
 */
function placeOf(locked, from, name) {
  for (let folder = from; ;) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (locked[path] !== undefined) return path;
    if (folder === "") return null;
    const above = folder.lastIndexOf("/node_modules/");
    folder = above < 0 ? "" : folder.slice(0, above);
  }
}

/**
 * @param {string} root
 * @param {string} path
 * @param {LockedPackage | undefined} locked
 * @returns {RuntimePackage}
 */
function packageAt(root, path, locked) {
  const folder = join(root, path);
  /** @type {{ name: string, scripts?: Record<string, string> }} */
  const { name, scripts = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const builds =
    existsSync(join(folder, "binding.gyp")) || INSTALL_SCRIPTS.some((script) => scripts[script] !== undefined);
  return {
    name,
    path,
    version: locked?.version ?? "",
    license: locked?.license ?? "none",
    installScript: locked?.hasInstallScript === true || builds,
    bytes: bytesOf(folder),
  };
}

/** @param {string} folder @returns {number} */
function bytesOf(folder) {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

/**
 * Copies the packages into node_modules, as npm would install them.
 * @param {string} root
 * @param {string} folder The folder that has node_modules.
 */
export function installRuntimeTree(root, folder) {
  for (const { path } of runtimeTree(root)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
}
