import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { openRoutes, runOracle } from "./run-oracle.js";
import { ORACLE_SCRIPTS } from "./scripts.js";

const { values } = parseArgs({
  options: { only: { type: "string" }, jobs: { type: "string", default: "4" }, seed: { type: "string", default: "1" } },
});
const has = (program: string) => spawnSync("/bin/sh", ["-c", `command -v ${program}`]).status === 0;
const scripts = ORACLE_SCRIPTS.filter(({ script }) => values.only === undefined || script.includes(values.only));
const started = performance.now();
const routes = await openRoutes(Number(values.seed));
const totals = await runOracle({
  scripts,
  routes: routes.list,
  jobs: Number(values.jobs),
  has,
  print: (line) => void process.stdout.write(`${line}\n`),
});
await routes.close();
const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stdout.write(
  `oracle: ${scripts.length} scripts, ${totals.compared} comparisons, ${totals.skipped} skipped, ${totals.different} different, ${seconds} s\n`,
);
process.exitCode = totals.different > 0 ? 1 : 0;
