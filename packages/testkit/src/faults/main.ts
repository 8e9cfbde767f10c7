import { parseArgs } from "node:util";
import { createExecServerWorld, createPeerWorld, type World } from "./exec-server-world.js";
import { createExecutorWorld, joinWorlds } from "./executor-world.js";
import { runAll, type Totals } from "./run-all.js";
import { renderFailure } from "./run-result.js";

const USAGE = `usage: pnpm faults [options]
       pnpm faults oracle [--only TEXT] [--jobs J] [--seed S]
  --runs N     runs (default 1000)
  --seed S     seed of the first run; each further run has the next one (default: random, printed)
  --kind K     only this kind: wire, channel, stdio, abandoned, killed, limits (exec-server),
               resumed, once, streams, executor-killed, orchestrator-killed (executor)
  --server CMD   another exec-server instead: a command that prints ws://IP:PORT
  --jobs J     runs at once (default 16)
  --verbose    the plan and history of every run
  --keep-going do not stop at the tenth failure`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "1000" },
      seed: { type: "string" },
      kind: { type: "string" },
      server: { type: "string" },
      jobs: { type: "string", default: "16" },
      verbose: { type: "boolean", default: false },
      "keep-going": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(`${USAGE}\n`);
  const jobs = toCount("jobs", values.jobs);
  const firstSeed = toCount("seed", values.seed ?? String(Math.floor(Math.random() * 1_000_000_000)));
  const runs = toCount("runs", values.runs);
  const stop = new AbortController();
  process.stdout.on("error", () => stop.abort()); // its reader has ended
  process.once("SIGINT", () => stop.abort());
  const world =
    values.server === undefined
      ? joinWorlds([await createExecServerWorld(), await createExecutorWorld()])
      : await createPeerWorld(values.server);
  const started = performance.now();
  let failures = 0;
  let totals: Totals;
  try {
    const kinds = values.kind === undefined ? world.kinds : pickKind(world, values.kind);
    process.stdout.write(`faults: ${runs} runs from seed ${firstSeed}\n`);
    totals = await runAll({
      world,
      kinds,
      firstSeed,
      runs,
      jobs,
      stop: stop.signal,
      onResult(result) {
        if (result.problems.length > 0 || values.verbose) process.stdout.write(`${renderFailure(result)}\n`);
        if (result.problems.length > 0) failures += 1;
        if (failures >= MOST_FAILURES && !values["keep-going"]) stop.abort();
      },
    });
  } finally {
    await world.close();
  }
  const seconds = (performance.now() - started) / 1000;
  const kinds = Object.entries(totals.byKind).map(([kind, count]) => `${kind} ${count}`);
  process.stdout.write(
    `faults: ${totals.runs} runs (${kinds.join(", ")}), ${totals.processes} programs, ${totals.failed} failed, ${seconds.toFixed(1)} s\n`,
  );
  process.exitCode = totals.failed > 0 ? 1 : 0;
}

const MOST_FAILURES = 10;

function pickKind({ kinds }: World, kind: string): Record<string, number> {
  if (Object.hasOwn(kinds, kind)) return { [kind]: 1 };
  throw new RangeError(`--kind ${JSON.stringify(kind)}: expected ${Object.keys(kinds).join(", ")}`);
}

function toCount(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new RangeError(`--${name} takes a count, got ${JSON.stringify(text)}`);
}

main().catch((error: unknown) => {
  // An invalid option needs no stack trace.
  const isUsage = error instanceof RangeError || (error instanceof TypeError && "code" in error);
  process.stderr.write(`faults: ${error instanceof Error ? (isUsage ? error.message : error.stack) : String(error)}\n`);
  process.exitCode = 2;
});
