/** `npm run docs:api`: writes the pages of the API reference. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apiPages, FOLDER } from "./api-pages.mjs";
import { root } from "./setup.mjs";

const { pages, problems } = apiPages();
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else {
  mkdirSync(join(root, FOLDER), { recursive: true });
  for (const name of readdirSync(join(root, FOLDER))) rmSync(join(root, FOLDER, name));
  for (const [path, text] of pages) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  console.log(`${pages.size} pages in ${FOLDER}`);
}
