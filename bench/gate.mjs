// What it costs to judge each program of a command where it starts: processor time of the gate for each, and whole commands with it and
// without, in one run.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { median, printTable } from "./harness.mjs";

const PROGRAMS = 2_000;
const ROUNDS = 5;
const RULES = 200;

/** As many rules as a team has, none of which is about what is started. */
const rules = (decision) => ({
  rules: Array.from({ length: RULES }, (_, at) => ({
    id: `rule ${at}`,
    pattern: [[`program${at}`], ["word"]],
    decision,
    place: { kind: "inside" },
  })),
  hostExecutables: [],
  approved: [],
});

const GATES = { none: undefined, judged: rules("allow"), verified: rules("refuse") };

export async function run() {
  const backend = createLocalBackend();
  const opening = performance.now();
  const missing = await backend.openGate();
  const openMs = performance.now() - opening;
  if (missing !== undefined) {
    console.log(`gate: left out, ${missing}`);
    return backend.close();
  }
  const base = realpathSync(mkdtempSync(join(tmpdir(), "codex-bench-")));
  writeFileSync(join(base, "Makefile"), `all: ${targets()}\n%.x:\n\t@/bin/true\n`);
  const loop = `i=0; while [ $i -lt ${PROGRAMS} ]; do /bin/true; i=$((i+1)); done`;
  const measure = (script, gate) => async () => {
    const before = process.cpuUsage();
    const started = performance.now();
    const spec = { argv: ["/bin/sh", "-c", script], cwd: base, env: { PATH: "/usr/bin:/bin" } };
    const stdio = { kind: "pipe", stdin: "null" };
    const running = await backend.start({ ...spec, stdio, ...(gate === undefined ? {} : { gate }) });
    const outcome = await running.exited;
    if (outcome.kind !== "exited" || outcome.code !== 0) throw new Error(JSON.stringify(outcome));
    const { user, system } = process.cpuUsage(before);
    return { ms: performance.now() - started, cpuMs: (user + system) / 1_000 };
  };
  const of = (script) => Object.fromEntries(Object.entries(GATES).map(([name, gate]) => [name, measure(script, gate)]));
  try {
    for (const [title, script] of [
      [`sh that starts ${PROGRAMS} programs`, loop],
      [`make of ${PROGRAMS} programs`, "make -s -j2"],
    ]) {
      await interleave(of(script), 1);
      const results = await interleave(of(script), ROUNDS);
      const none = median(results.none.map(({ ms }) => ms));
      const idle = median(results.none.map(({ cpuMs }) => cpuMs));
      const rows = Object.entries(results).map(([name, values]) => ({
        name,
        ms: Math.round(median(values.map(({ ms }) => ms))),
        "of none": +(median(values.map(({ ms }) => ms)) / none).toFixed(2),
        "CPU ms of the gate, each": +((median(values.map(({ cpuMs }) => cpuMs)) - idle) / PROGRAMS).toFixed(3),
      }));
      printTable(`${title}, ${RULES} rules, ${ROUNDS} rounds`, rows);
    }
    console.log(`opening the gate, once for a host: ${openMs.toFixed(0)} ms`);
  } finally {
    await backend.close();
    rmSync(base, { recursive: true, force: true });
  }
}

/** The results of each subject, taken in turns. */
async function interleave(subjects, rounds) {
  const results = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(subjects)) results[name].push(await run());
  }
  return results;
}

const targets = () => Array.from({ length: PROGRAMS }, (_, at) => `${at}.x`).join(" ");
