// Runs known programs through our servers for minutes or hours and looks for what grows, gets lost or is left behind.
// `node bench/soak.mjs --minutes 30 [--workers 6] [--cut-every 5] [--seed 1]`; budgets are in soak/budgets.json.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { printTable } from "./harness.mjs";
import { counted, JOBS } from "./soak/jobs.mjs";
import { countMarked, sample, slope } from "./soak/samples.mjs";
import { openExecServer, openExecutor } from "./soak/targets.mjs";

const SAMPLE_MS = 1000;
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    workers: { type: "string", default: "6" },
    "cut-every": { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
  },
});
const minutes = positive("minutes");
const workers = positive("workers");
const budgets = JSON.parse(readFileSync(new URL("./soak/budgets.json", import.meta.url), "utf8"));

const mark = randomUUID();
const cutEveryMs = positive("cut-every") * 1000;
const targets = [
  await openExecutor(`${mark}-executor`, cutEveryMs),
  await openExecServer(`${mark}-exec-server`, cutEveryMs),
];
const until = performance.now() + minutes * 60_000;
const runs = Object.fromEntries(Object.keys(JOBS).map((name) => [name, 0]));
const wrong = [];
const series = targets.map(() => []);

const work = targets.flatMap((target, index) =>
  Array.from({ length: workers }, (_, worker) =>
    repeat(target, createRandom(positive("seed") * 1000 + index * 100 + worker)),
  ),
);
const watching = watch();
await Promise.all(work);
await watching;
const busy = targets.map(({ pid }) => pid);
for (const target of targets) await target.close();
const left = await countLeft();
process.exitCode = report() ? 0 : 1;

async function repeat(target, random) {
  const names = Object.keys(JOBS);
  while (performance.now() < until) {
    const name = names[Math.floor(random() * names.length)];
    const problem = await JOBS[name](target, random).catch((error) => `failed: ${error.message}`);
    runs[name] += 1;
    if (problem !== undefined) wrong.push(`${target.name}: ${name}: ${problem}`);
  }
}

async function watch() {
  while (performance.now() < until) {
    targets.forEach((target, index) => {
      const name = index === 0 ? "executor" : "exec-server";
      series[index].push(sample(target.pid, `${mark}-${name}`));
    });
    await delay(SAMPLE_MS);
  }
}

/** What a killed group leaves behind is gone within a second, or it stays. */
async function countLeft() {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (countMarked(mark) === 0) return 0;
    await delay(50);
  }
  return countMarked(mark);
}

function report() {
  const rows = targets.flatMap(({ name }, index) => [
    growth(name, "memory, MB", series[index], "memory", budgets.memoryGrowthMegabytesPerHour),
    growth(name, "descriptors", series[index], "descriptors", budgets.descriptorGrowthPerHour),
    growth(name, "processes", series[index], "processes", budgets.processGrowthPerHour),
  ]);
  const peak = Math.max(...series.flat().map(({ memory }) => memory));
  const facts = [
    fact("bytes unaccounted", counted.unaccounted, budgets.bytesUnaccounted),
    fact("wrong bytes or outcomes", wrong.length, budgets.inventedOutcomes),
    fact("processes left", left, budgets.processesLeft),
    fact("peak memory, MB", +peak.toFixed(1), budgets.peakPrivateMegabytes),
  ];
  const total = Object.values(runs).reduce((sum, count) => sum + count, 0);
  const megabytes = (counted.bytes / 1e6).toFixed(0);
  console.log(
    `${minutes} min, ${workers} workers each, ${total} programs, ${megabytes} MB, ${targets.map(({ cuts }) => cuts).join(" and ")} cuts, pids ${busy}`,
  );
  printTable("growth", rows);
  printTable("facts", facts);
  for (const line of wrong.slice(0, 20)) console.error(line);
  return [...rows, ...facts].every((row) => row.ok);
}

function growth(target, what, samples, name, budget) {
  const { perHour, error } = slope(samples, name);
  const first = samples[Math.floor(samples.length / 3)][name];
  const last = samples.at(-1)[name];
  // Within three standard errors of none, or below what is allowed.
  const ok = perHour <= Math.max(budget, 3 * error);
  return {
    target,
    what,
    from: +first.toFixed(1),
    to: +last.toFixed(1),
    "per hour": `${perHour.toFixed(1)} ± ${error.toFixed(1)}`,
    budget,
    ok,
  };
}

function fact(what, value, budget) {
  return { what, value, budget, ok: value <= budget };
}

function positive(name) {
  const value = Number(values[name]);
  if (value > 0) return value;
  console.error(`--${name} ${JSON.stringify(values[name])}: expected a number above 0`);
  return process.exit(2);
}

/** mulberry32. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
