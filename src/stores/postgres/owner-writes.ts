/** The other writes of a process that runs trees: failures, retention, projections, the anchor. */

import type { Anchor, StoreWrites } from "../../contracts/store.ts";
import { asTreeId, type TreeId } from "../../core/values/ids.ts";
import { numberOf, type Row } from "../cells.ts";
import { FORMAT_KNOWN } from "../formats.ts";
import { treeUnknown } from "../refusals.ts";
import { textCell, textOf } from "./cells.ts";
import type { Database } from "./database.ts";
import { refusalOf } from "./postgres-errors.ts";
import { explainReusedPost, replaceProjections } from "./projections.ts";

export type OwnerWrites = Omit<StoreWrites, "commit" | "claim">;

const COUNT_FAILURE = `
  update errand.trees set failures = failures + 1, status = case when $2::boolean then 2 else status end
  where id = $1 returning key`;
const SET_UNPLACED = "update errand.trees set unplaced = $2 where id = $1 returning key";
const RELEASE = `
  update errand.trees set failures = 0, status = case when status = 2 then 0 else status end
  where id = $1 returning key`;
const KEY = "select key from errand.trees where id = $1";
/** Skips a tree whose row another process has locked: it is not idle. */
const EXPIRE = `
  update errand.trees set status = 3, epoch = epoch + 1, owner = null where key in (
    select key from errand.trees t
    where updated_at < $1 and not busy and wake_at is null and questions = 0 and status in (0, 1) and ${FORMAT_KNOWN}
    and not exists (select 1 from errand.runs r where r.tree = t.key and delivery in (0, 1))
    and not exists (select 1 from errand.posts p where p.tree = t.id and seq is null)
    order by updated_at limit $2 for update skip locked
  ) returning key, id`;
const SET_ANCHOR = `
  insert into errand.anchor values (true, $1, $2, $3, $4)
  on conflict (single) do update
  set at = excluded.at, wall = excluded.wall, monotonic = excluded.monotonic, boot = excluded.boot`;

const RAISE_FORMAT = `
  insert into errand.meta values ('format', $1)
  on conflict (name) do update set value = greatest(meta.value::integer, excluded.value::integer)::text`;

const TREE_TABLES = ["journal", "blobs", "snapshots", "runs", "outbox"];

export function createOwnerWrites(database: Database): OwnerWrites {
  async function known(rows: Promise<readonly Row[]>, tree: TreeId): Promise<number> {
    const [row] = await rows;
    if (row === undefined) throw treeUnknown(tree);
    return numberOf(row, "key");
  }

  return {
    async markFailure(tree, quarantine) {
      await known(database.ask({ name: "errand-fail", text: COUNT_FAILURE }, [textCell(tree), quarantine]), tree);
    },
    async markUnplaced(tree, reason) {
      const cell = reason === null ? null : textCell(reason);
      await known(database.ask({ name: "errand-unplace", text: SET_UNPLACED }, [textCell(tree), cell]), tree);
    },
    async release(tree) {
      await known(database.ask({ name: "errand-release", text: RELEASE }, [textCell(tree)]), tree);
    },
    async replaceProjections(tree, { runs, posts }) {
      try {
        await database.transaction(async (ask) => {
          const key = await known(ask({ name: "errand-key", text: `${KEY} for update` }, [textCell(tree)]), tree);
          await replaceProjections(ask, key, tree, runs, posts);
        });
      } catch (error) {
        if (refusalOf(error) === "posts") await explainReusedPost(database.ask, [{ tree, posts }]);
        throw error;
      }
    },
    expire: (before, limit) =>
      database.transaction(async (ask) => {
        const expired = await ask({ name: "errand-expire", text: EXPIRE }, [before, limit]);
        if (expired.length === 0) return [];
        const keys = expired.map((row) => numberOf(row, "key"));
        const ids = expired.map((row) => textOf(row, "id"));
        for (const table of TREE_TABLES) {
          const text = `delete from errand.${table} where tree = any ($1::bigint[])`;
          await ask({ name: `errand-expire-${table}`, text }, [keys]);
        }
        const posts = "delete from errand.posts where tree = any ($1::text[])";
        await ask({ name: "errand-expire-posts", text: posts }, [ids.map(textCell)]);
        return ids.map(asTreeId);
      }),
    async raiseFormat(format) {
      await database.ask({ name: "errand-raise-format", text: RAISE_FORMAT }, [String(format)]);
    },
    async setAnchor({ at, wall, monotonic, boot }: Anchor) {
      await database.ask({ name: "errand-set-anchor", text: SET_ANCHOR }, [at, wall, monotonic, textCell(boot)]);
    },
  };
}
