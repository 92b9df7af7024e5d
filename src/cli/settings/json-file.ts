/**
 * Small files of JSON that hold choices: settings and trust.
 *
 * Invariants:
 *  1. What is no JSON object, too long or no regular file is an error that names the file. What is not there is nothing.
 *  2. Only its owner may read a file that was written here, and it is there whole or as it was before.
 */

import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
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

/** Null when there is no such file. With `within`, the file must really be in that folder. */
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
  await writePrivateFile(real, linesOf(JSON.stringify(value, null, 2)), world);
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

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split("\n");
}
