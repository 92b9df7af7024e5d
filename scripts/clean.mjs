/** Deletes dist/, so that no file whose source is gone is published. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

rmSync(join(root, "dist"), { recursive: true, force: true });
