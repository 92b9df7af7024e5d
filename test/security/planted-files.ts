/**
 * A hostile folder: every file that a dependency is known to search from the working folder upwards. Each file leaves a
 * trace when it is used.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const CODE = ["js", "ts", "cjs", "mjs", "mts", "cts"];
const DATA = ["json", "json5", "yaml", "yml"];

/**
 * Names that cosmiconfig searches for graphile-worker, those of its own settings, those of graphile-config, and those
 * of pg, dotenv and Node.
 */
const CODE_NAMES = [
  ...CODE.map((ending) => `.graphile-workerrc.${ending}`),
  ...CODE.map((ending) => `.config/graphile-workerrc.${ending}`),
  ...CODE.map((ending) => `graphile-worker.config.${ending}`),
  ...CODE.map((ending) => `graphile.config.${ending}`),
  ...CODE.map((ending) => `.config.${ending}`),
  ...CODE.map((ending) => `.config/config.${ending}`),
  ...CODE.map((ending) => `tasks/errand:wake:1.${ending}`),
  "node_modules/pg-native/index.js",
  "node_modules/pg/index.js",
  "node_modules/graphile-worker/index.js",
  "node_modules/cosmiconfig/index.js",
  "node_modules/dotenv/config.js",
  "node_modules/commander/index.js",
  "node_modules/ajv/index.js",
  "node_modules/yaml/index.js",
];
const DATA_NAMES = [
  ".graphile-workerrc",
  ...DATA.map((ending) => `.graphile-workerrc.${ending}`),
  ".config/graphile-workerrc",
  ...DATA.map((ending) => `.config/graphile-workerrc.${ending}`),
  ...DATA.map((ending) => `.config.${ending}`),
  ...DATA.map((ending) => `.config/config.${ending}`),
];

/** JSON is also YAML. Any of these would make graphile-worker end the process or use another schema. */
const DATA_TEXT = JSON.stringify({ schema: "hostile", pollInterval: 1, maxPoolSize: 1 });
const CRONTAB = '* * * * * errand:wake:1 ?fill=1d {tree:"hostile"}\n';

export interface PlantedFolder {
  /** The innermost folder, where a program is started. */
  readonly folder: string;
  /** The outermost, where a search upwards should stop. */
  readonly home: string;
  readonly files: readonly string[];
  /** The files that were executed. */
  executed(): string[];
  remove(): void;
}

/** Puts files with all names, or only the selected ones, into a folder and the two folders above it. */
export function plantedFolder(names: (name: string) => boolean = () => true): PlantedFolder {
  const home = mkdtempSync(join(tmpdir(), "errand-planted-"));
  const folder = join(home, "outer", "inner");
  const marker = join(home, "executed");
  const files: string[] = [];
  const plant = (place: string, name: string, text: string): void => {
    if (!names(name)) return;
    const file = join(place, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    files.push(file);
  };
  for (const place of [folder, join(home, "outer"), home]) {
    mkdirSync(place, { recursive: true });
    for (const name of CODE_NAMES) plant(place, name, codeOf(marker, join(place, name)));
    for (const name of DATA_NAMES) plant(place, name, DATA_TEXT);
    plant(place, "crontab", CRONTAB);
    plant(place, ".pgpass", "*:*:*:*:hostile\n");
    plant(place, ".env", "PGOPTIONS=-c statement_timeout=1\nGRAPHILE_WORKER_SCHEMA=hostile\n");
    const keys = { "graphile-worker": { schema: "hostile" }, cosmiconfig: { searchPlaces: ["package.json"] } };
    plant(place, "package.json", JSON.stringify({ name: "planted", ...keys }));
  }
  return {
    folder,
    home,
    files,
    executed: () => (existsSync(marker) ? readFileSync(marker, "utf8").trim().split("\n") : []),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Valid as CommonJS, as a module and as TypeScript. */
function codeOf(marker: string, file: string): string {
  const written = `${JSON.stringify(marker)}, ${JSON.stringify(`${file}\n`)}`;
  return `process.getBuiltinModule("node:fs").appendFileSync(${written});\n`;
}
