/** A host whose signals, timers and end a test makes happen. */

import { createRedactor } from "../../../src/runtime/redaction/redactor.ts";
import type { Host, Signal } from "../../../src/cli/host.ts";

export interface FakeHost {
  readonly host: Host;
  signal(signal: Signal): void;
  /** Lets every timer fire that is set. */
  tick(): void;
  resize(columns: number): void;
  /** What the process does last. */
  exit(): void;
  readonly written: { out: string; err: string };
  readonly left: number[];
}

export function createFakeHost(size = { columns: 80, rows: 24 }): FakeHost {
  const listeners = new Map<string, Set<() => void>>();
  const written = { out: "", err: "" };
  const left: number[] = [];
  const on = (name: string, listener: () => void): (() => void) => {
    const all = listeners.get(name) ?? new Set();
    listeners.set(name, all.add(listener));
    return () => void all.delete(listener);
  };
  const emit = (name: string): void => {
    // Those that are there now: a timer may set another.
    const now = Array.from(listeners.get(name) ?? []);
    for (const listener of now) listener();
  };
  let now = 0;
  const host: Host = {
    world: {
      wall: () => now,
      monotonic: () => now,
      boot: () => "test",
      random: (digits) => "0".repeat(digits),
      after(_milliseconds, callback) {
        const off = on("timer", () => {
          off();
          callback();
        });
        return off;
      },
      soon: (callback) => callback(),
    },
    env: {},
    redactor: createRedactor([]),
    folder: "/nowhere",
    home: "/nowhere",
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    drained: () => Promise.resolve(true),
    screen: {
      draw: (text) => void (written.out += text),
      size: () => size,
      onResize: (listener) => on("resize", listener),
    },
    colours: { out: null, err: null },
    keys: null,
    piped: false,
    readInput: () => Promise.resolve(""),
    async *input() {},
    onSignal: on,
    onExit: (listener) => on("exit", listener),
    suspend: () => emit("suspended"),
    end: (code) => left.push(code),
    leave: (code) => left.push(code),
  };
  return {
    host,
    written,
    left,
    signal: emit,
    tick() {
      now += 100;
      emit("timer");
    },
    resize(columns) {
      size = { ...size, columns };
      emit("resize");
    },
    exit: () => emit("exit"),
  };
}
