import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createDatabase, createServer, runSql } from "./databases.ts";

const GUARD = fileURLToPath(new URL("./guard.ts", import.meta.url));

test("every test has a private empty database", async () => {
  const [one, other] = [await createDatabase(), await createDatabase()];
  await runSql(one.url, "create table t (a int)");
  await expect(runSql(other.url, "select * from t")).rejects.toThrow(/does not exist/);
  await one.drop();
  await other.drop();
});

test("a private server keeps its data when it is stopped and started", async () => {
  const server = await createServer();
  await runSql(server.url, "create table t (a int); insert into t values (7)");
  await server.stop("fast");
  await expect(runSql(server.url, "select 1")).rejects.toThrow();
  await server.start();
  expect(await runSql(server.url, "select a from t")).toEqual([{ a: 7 }]);
  await server.remove();
  expect(existsSync(server.data)).toBe(false);
});

test.each([
  { how: "is killed", signal: "SIGKILL", group: false },
  { how: "ends with its terminal", signal: "SIGHUP", group: true },
] as const)("a runner that $how leaves no server and no folder behind", async ({ signal, group }) => {
  // This process holds the pipe of the guard, as the runner does.
  const script = `
    import { spawn } from "node:child_process";
    const guard = spawn(process.execPath, [${JSON.stringify(GUARD)}], { stdio: ["pipe", "inherit", "inherit"] });
    setInterval(() => guard, 1000);`;
  const runner = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const [port] = (await once(runner.stdout, "data")) as [Buffer];
  const answer = await fetch(`http://127.0.0.1:${String(port).trim()}/own`, { method: "POST" });
  const { data } = (await answer.json()) as { data: string };
  expect(existsSync(data)).toBe(true);
  process.kill((group ? -1 : 1) * (runner.pid ?? 0), signal);
  for (let waited = 0; waited < 20_000 && existsSync(dirname(data)); waited += 50) await sleep(50);
  expect(existsSync(dirname(data))).toBe(false);
});
