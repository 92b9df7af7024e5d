/** Removes what the build wrote, so that a file whose source is gone is not published. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { root } from "./setup.mjs";

rmSync(join(root, "dist"), { recursive: true, force: true });
