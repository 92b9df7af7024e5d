/** Where simulations keep their stores: what one seed leaves behind does not reach the next. */

import { expect, onTestFinished, test } from "vitest";
import { openPlace } from "./place.ts";

test("a seed that left its stores open leaves nothing to the next", async () => {
  const place = await openPlace();
  onTestFinished(() => place.close());
  const left = await place.sqlite();
  const old = left.own();
  await left.beside().trees({ limit: 1 });
  await old.raiseFormat(1_000);

  const disk = await place.sqlite();
  await expect(old.trees({ limit: 1 })).rejects.toThrow("closed");
  const [own, beside] = [disk.own(), disk.beside()];
  await own.setAnchor({ at: 1, wall: 1, monotonic: 1, boot: "b" });
  expect(await beside.anchor()).toEqual({ at: 1, wall: 1, monotonic: 1, boot: "b" });
  expect(await own.format()).toBeLessThan(1_000);
});
