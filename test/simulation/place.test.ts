/** The stores of simulations: one seed does not affect the next. */

import { expect, onTestFinished, test } from "vitest";
import { birth, commitOf, treeNumber } from "../conformance/store-samples.ts";
import { openPlace } from "./place.ts";

test.each(["sqlite", "sqliteAnew"] as const)(
  "stores that a seed left open do not affect the next seed (%s)",
  async (way) => {
    const place = await openPlace();
    onTestFinished(() => place.close());
    for (const before of ["sqlite", "sqliteAnew"] as const) {
      const left = await place[before]();
      const old = left.own();
      await left.beside().trees({ limit: 1 });
      await old.raiseFormat(1_000);
      await old.commit(commitOf(birth(treeNumber(1))));

      const disk = await place[way]();
      await expect(old.trees({ limit: 1 })).rejects.toThrow("closed");
      const [own, beside] = [disk.own(), disk.beside()];
      expect(await own.trees({ limit: 1 })).toEqual([]);
      await own.setAnchor({ at: 1, wall: 1, monotonic: 1, boot: "b" });
      expect(await beside.anchor()).toEqual({ at: 1, wall: 1, monotonic: 1, boot: "b" });
      expect(await own.format()).toBeLessThan(1_000);
    }
  },
);
