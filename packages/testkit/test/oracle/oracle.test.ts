import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { openRoutes, runOracle } from "../../src/oracle/run-oracle.js";
import { ORACLE_SCRIPTS } from "../../src/oracle/scripts.js";

const has = (program: string) => spawnSync("/bin/sh", ["-c", `command -v ${program}`]).status === 0;

it("has scripts of every kind, each once", () => {
  const keys = ORACLE_SCRIPTS.map(({ script, tty, input, steps }) => JSON.stringify({ script, tty, input, steps }));
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.length).toBeGreaterThanOrEqual(250);
});

// `script` of util-linux runs the ones on a terminal; `pnpm faults oracle` takes all of them.
it.skipIf(process.platform !== "linux")("programs do through us what they do without us", async () => {
  const differences: string[] = [];
  const routes = await openRoutes(1);
  const scripts = ORACLE_SCRIPTS.filter((_, index) => index % 15 === 7);
  const print = (line: string) => void differences.push(line);
  const totals = await runOracle({ scripts, routes: routes.list, jobs: 4, has, print });
  await routes.close();
  expect(differences.filter((line) => line.startsWith("DIFFERENT"))).toEqual([]);
  expect(totals.compared + 3 * totals.skipped).toBe(3 * scripts.length);
});
