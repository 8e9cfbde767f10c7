// Runs known programs through our servers for minutes or hours and looks for what grows, gets lost or is left behind.
// `node bench/soak.mjs --minutes 30 [--workers 6] [--cut-every 5] [--pause 0] [--seed 1]`; budgets are in
// soak/budgets.json. `--structure` judges no slope: for a run of seconds. `--json` prints what there is in one line.
// Descriptors are counted as root only: a server hides them from other users.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { printTable } from "./harness.mjs";
import { runSoak } from "./soak/run-soak.mjs";
import { slope } from "./soak/samples.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    workers: { type: "string", default: "6" },
    "cut-every": { type: "string", default: "5" },
    pause: { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    structure: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const budgets = JSON.parse(readFileSync(new URL("./soak/budgets.json", import.meta.url), "utf8"));
const minutes = positive("minutes");
const workers = positive("workers");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1)); // with the servers
const soak = await runSoak({
  ms: minutes * 60_000,
  workers,
  cutEveryMs: positive("cut-every") * 1000,
  pauseMs: Number(values.pause) * 1000,
  seed: positive("seed"),
});
process.exitCode = report(soak) ? 0 : 1;

function report({ runs, wrong, bytes, unaccounted, left, targets }) {
  const growth = values.structure ? [] : targets.flatMap(describeGrowth);
  const peak = Math.max(...targets.flatMap(({ samples }) => samples.map(({ memory }) => memory)));
  const counted = targets.flatMap(({ descriptors }) => descriptors ?? []);
  const more = counted.map(({ before, after }) => after - before);
  const facts = [
    fact("bytes unaccounted", unaccounted, budgets.bytesUnaccounted),
    fact("wrong bytes or outcomes", wrong.length, budgets.inventedOutcomes),
    fact("processes left", left, budgets.processesLeft),
    ...(more.length === 0 ? [] : [fact("descriptors left", Math.max(0, ...more), budgets.descriptorsLeft)]),
    fact("peak memory, MB", +peak.toFixed(1), budgets.peakPrivateMegabytes),
  ];
  for (const line of wrong.slice(0, 20)) console.error(line);
  if (values.json) {
    const summary = targets.map(({ name, cuts, descriptors }) => ({ name, cuts, descriptors }));
    console.log(JSON.stringify({ runs, bytes, facts, targets: summary }));
  } else {
    const total = Object.values(runs).reduce((sum, count) => sum + count, 0);
    const cuts = targets.map((target) => target.cuts).join(" and ");
    const pids = targets.map(({ pid }) => pid);
    console.log(
      `${minutes} min, ${workers} workers each, ${total} programs, ${(bytes / 1e6).toFixed(0)} MB, ${cuts} cuts, pids ${pids}`,
    );
    if (growth.length > 0) printTable("growth", growth);
    printTable("facts", facts);
  }
  return [...growth, ...facts].every((row) => row.ok);
}

function describeGrowth({ name, samples }) {
  return [
    growthOf(name, "memory, MB", samples, "memory", budgets.memoryGrowthMegabytesPerHour),
    ...(samples[0].descriptors === undefined
      ? []
      : [growthOf(name, "descriptors", samples, "descriptors", budgets.descriptorGrowthPerHour)]),
    growthOf(name, "processes", samples, "processes", budgets.processGrowthPerHour),
  ];
}

function growthOf(target, what, samples, name, budget) {
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
