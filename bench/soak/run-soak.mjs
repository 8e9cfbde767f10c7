// Workers that run known programs, connections that are cut, and what is seen of the servers in the meantime and afterwards.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { counted, JOBS } from "./jobs.mjs";
import { countDescriptors, countMarked, sample } from "./samples.mjs";
import { openExecServer, openExecutor } from "./targets.mjs";

const SAMPLE_MS = 1000;
/** Time in which what has ended is given back, ms. */
const SETTLE_MS = 10_000;

/**
 * Goes on for `ms`, and until every job was run and every connection was cut. `pauseMs` is how long a worker rests between two jobs.
 * Resolves with `runs` by job, `wrong` (texts), `unaccounted` and `bytes`, `left` (processes), and of each target its
 * `name`, `pid`, `cuts`, `samples` and `descriptors` (`before`, `after`; none where this user may not count them).
 * The servers end with it, whatever happens.
 */
export async function runSoak(options) {
  const mark = randomUUID();
  const targets = [];
  try {
    targets.push(await openExecutor(`${mark}-executor`));
    targets.push(await openExecServer(`${mark}-exec-server`));
    const facts = await soak(targets, mark, options);
    for (const target of targets) await target.close();
    return { ...facts, ...counted, left: await countLeft(mark) };
  } finally {
    for (const target of targets) target.kill();
  }
}

async function soak(targets, mark, { ms, workers, cutEveryMs, pauseMs = 0, seed }) {
  const runs = Object.fromEntries(Object.keys(JOBS).map((name) => [name, 0]));
  const wrong = [];
  const run = async (name, target, random) => {
    const problem = await JOBS[name](target, random).catch((error) => `failed: ${error.message}`);
    runs[name] += 1;
    if (problem !== undefined) wrong.push(`${target.name}: ${name}: ${problem}`);
  };
  const first = createRandom(seed);
  for (const target of targets) for (const name of Object.keys(JOBS)) await run(name, target, first);
  const before = await Promise.all(targets.map(({ pid }) => untilSettled(pid)));

  for (const target of targets) target.beginCuts(cutEveryMs);
  const until = performance.now() + ms;
  const goesOn = () => performance.now() < until || targets.some((target) => target.getCuts() === 0);
  const repeat = async (target, random) => {
    const names = Object.keys(JOBS);
    while (goesOn()) {
      await run(names[Math.floor(random() * names.length)], target, random);
      await delay(pauseMs * random());
    }
  };
  const samples = targets.map(() => []);
  const watch = async () => {
    while (goesOn()) {
      targets.forEach(({ pid, name }, index) => void samples[index].push(sample(pid, `${mark}-${name}`)));
      await delay(SAMPLE_MS);
    }
  };
  const work = targets.flatMap((target, index) =>
    Array.from({ length: workers }, (_, worker) => repeat(target, createRandom(seed * 1000 + index * 100 + worker))),
  );
  await watch();
  for (const target of targets) target.endCuts(); // work in progress might never end otherwise
  await Promise.all(work);
  const after = await Promise.all(targets.map(({ pid }, index) => untilAtMost(before[index], pid)));
  return {
    runs,
    wrong,
    targets: targets.map(({ name, pid, getCuts }, index) => {
      const descriptors = before[index] === undefined ? undefined : { before: before[index], after: after[index] };
      return { name, pid, cuts: getCuts(), samples: samples[index], descriptors };
    }),
  };
}

/** The fewest descriptors within a second: those of programs that have just ended are not counted. */
async function untilSettled(pid) {
  let fewest = countDescriptors(pid);
  if (fewest === undefined) return undefined;
  for (let tries = 0; tries < 20; tries += 1) {
    await delay(50);
    fewest = Math.min(fewest, countDescriptors(pid));
  }
  return fewest;
}

async function untilAtMost(count, pid) {
  const deadline = performance.now() + SETTLE_MS;
  if (count === undefined) return undefined;
  while (countDescriptors(pid) > count && performance.now() < deadline) await delay(50);
  return countDescriptors(pid);
}

/** What a killed group leaves behind is gone within a second, or it stays. */
async function countLeft(mark) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (countMarked(mark) === 0) return 0;
    await delay(50);
  }
  return countMarked(mark);
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
