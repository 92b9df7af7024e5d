/**
 * Small JSON files of settings and trust.
 *
 * Invariants:
 *  1. A file that is no JSON object, is too long or is no regular file is an error that names it. A missing file is
 *     null.
 *  2. Only the owner may read a written file. It is replaced as a whole, or stays as it was.
 */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import type { World } from "../../contracts/world.ts";
import { type Json, jsonNestsDeeper, jsonObjectIs } from "../../core/values/json.ts";
import { readText } from "../../definitions/folder-files.ts";
import { errorText, ErrandError } from "../../errors.ts";
import { makeFolder } from "../../stores/user-data.ts";
import { unusable } from "../files/file-lines.ts";
import { writePrivateFile } from "../files/write-private-file.ts";

export type JsonObject = { readonly [key: string]: Json };

const FILE_BYTES = 1024 * 1024;
const FILE_DEPTH = 50;

/** With `within`, the real path of the file must be in that folder. */
export async function readJsonFile(path: string, within?: string, bytes = FILE_BYTES): Promise<JsonObject | null> {
  const real = within === undefined ? await realpath(path).catch(() => path) : path;
  const read = await readText(within ?? dirname(real), real, bytes);
  if (read === null) return null;
  if ("problem" in read) throw invalidFile(path, read.problem);
  if (read.cut) throw invalidFile(path, `it is longer than ${bytes} bytes`);
  if (jsonNestsDeeper(read.text, FILE_DEPTH)) throw invalidFile(path, `it is nested deeper than ${FILE_DEPTH} levels`);
  const value = parsed(path, read.text);
  if (!jsonObjectIs(value)) throw invalidFile(path, "it holds no JSON object");
  return value;
}

export async function writeJsonFile(path: string, value: JsonObject, world: World): Promise<void> {
  const real = await realpath(path).catch(() => path);
  try {
    makeFolder(dirname(real));
  } catch (cause) {
    throw unusable(path, "written", cause);
  }
  await writePrivateFile(real, Readable.from([JSON.stringify(value, null, 2)]), world);
}

export function invalidFile(path: string, why: string): ErrandError {
  return new ErrandError("config-invalid", `The file ${path} cannot be used: ${why}`, {
    remedy: "Mend or remove the file.",
  });
}

function parsed(path: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw invalidFile(path, `it is no JSON (${errorText(cause)})`);
  }
}
