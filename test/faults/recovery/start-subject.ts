/** Starts the process that faults are tried on, and gives it orders. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Orders, SubjectOptions } from "./subject.ts";

export interface Subject {
  order<Name extends keyof Orders>(name: Name, ...given: Parameters<Orders[Name]>): ReturnType<Orders[Name]>;
  /** Ends it at once. Resolves when it is gone. */
  kill(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("./subject.ts", import.meta.url));
/** Compiled sources, kept between starts. */
const COMPILED = fileURLToPath(new URL("../../../node_modules/.cache/errand-faults", import.meta.url));

interface Answer {
  readonly number: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Resolves when its store is open. */
export async function startSubject(options: SubjectOptions): Promise<Subject> {
  const child = spawn(process.execPath, ["--expose-gc", PROGRAM, JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, NODE_OPTIONS: "" },
  });
  let errors = "";
  child.stderr?.on("data", (data: Buffer) => {
    errors = (errors + data.toString()).slice(-10_000);
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const gone = new Promise<void>((resolve) => {
    child.on("exit", (code, signal) => {
      for (const { reject } of waiting.values()) reject(new Error(`the process ended (${code ?? signal}): ${errors}`));
      resolve();
    });
  });
  child.on("message", ({ number, result, error }: Answer) => {
    const one = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) one?.resolve(result);
    else one?.reject(new Error(error));
  });
  let numbers = 0;
  function answer(): { readonly number: number; readonly promise: Promise<unknown> } {
    const number = numbers;
    numbers += 1;
    const one = Promise.withResolvers<unknown>();
    waiting.set(number, one);
    return { number, promise: one.promise };
  }
  await answer().promise;
  return {
    order(name, ...given) {
      const { number, promise } = answer();
      child.send({ number, name, given });
      return promise as ReturnType<Orders[typeof name]>;
    },
    async kill() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await gone;
    },
  };
}
