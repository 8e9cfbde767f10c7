// pnpm fuzz [--runs N] [--seed S] [name…]: the properties of packages/testkit with many runs. Default: 10000 runs of a
// random seed, every property. A failure prints the seed, the smallest input, and nothing else needs to be known.
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const LONGEST_TEST_MS = 60 * 60 * 1000;

const { values, positionals } = parseArgs({
  options: { runs: { type: "string", default: "10000" }, seed: { type: "string" } },
  allowPositionals: true,
});
for (const [name, value] of Object.entries(values)) {
  if (/^-?\d+$/.test(value)) continue;
  process.stderr.write(`fuzz: --${name} takes an integer, got ${JSON.stringify(value)}\n`);
  process.exit(2);
}
const seed = values.seed ?? String(randomInt(2 ** 31));
process.stdout.write(`fuzz: ${values.runs} runs of each property, seed ${seed}\n`);
const root = fileURLToPath(new URL("../", import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const folders = positionals.length > 0 ? positionals : ["packages/testkit/test/fuzz", "packages/testkit/test/model"];
const { status } = spawnSync(process.execPath, [vitest, "run", `--testTimeout=${LONGEST_TEST_MS}`, ...folders], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, FUZZ_RUNS: values.runs, FUZZ_SEED: seed },
});
process.exitCode = status ?? 1;
