import { expect, test } from "vitest";
import { createSystemWorld } from "../world.ts";
import { createTurnTaking } from "./turn-taking.ts";

test("whoever asks before what a commit set off has run is heard then, also if there is nothing to take any more", async () => {
  const callbacks: { name: "soon" | "next"; callback: () => void }[] = [];
  const world = {
    ...createSystemWorld(),
    soon: (callback: () => void) => void callbacks.push({ name: "soon", callback }),
    next: (callback: () => void) => void callbacks.push({ name: "next", callback }),
  };
  const seen: string[] = [];
  const turns = createTurnTaking({
    world,
    take: async () => {
      seen.push("takes");
      return 1;
    },
    more: () => false,
    onRest: () => void seen.push("rests"),
  });
  const comes = async (name: string): Promise<void> => {
    const due = callbacks.shift();
    expect(due?.name).toBe(name);
    due?.callback();
    await new Promise((resolve) => setImmediate(resolve));
  };
  turns.ask();
  turns.ask();
  expect(turns.busy()).toBe(true);
  await comes("soon");
  expect(seen).toEqual(["takes", "rests"]);
  turns.ask();
  expect(turns.busy()).toBe(false);
  await comes("next");
  expect(seen).toEqual(["takes", "rests", "rests"]);
  turns.ask();
  await comes("soon");
  expect(seen.slice(3)).toEqual(["takes", "rests"]);
});
