// What it costs to judge each program of a command where it starts: processor time of the gate for each, and whole commands with it and
// without, in one run.
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { interleave, median, printTable } from "./harness.mjs";

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
  /** Processor time of each run, by gate, ms. */
  let cpuMs = {};
  const measure = (script, name) => async () => {
    const gate = GATES[name];
    const before = process.cpuUsage();
    const started = performance.now();
    const spec = { argv: ["/bin/sh", "-c", script], cwd: base, env: { PATH: "/usr/bin:/bin" } };
    const stdio = { kind: "pipe", stdin: "null" };
    const running = await backend.start({ ...spec, stdio, ...(gate === undefined ? {} : { gate }) });
    const outcome = await running.exited;
    if (outcome.kind !== "exited" || outcome.code !== 0) throw new Error(JSON.stringify(outcome));
    const { user, system } = process.cpuUsage(before);
    cpuMs[name].push((user + system) / 1_000);
    return performance.now() - started;
  };
  const each = (render) => Object.fromEntries(Object.keys(GATES).map((name) => [name, render(name)]));
  const take = (script, rounds) => {
    cpuMs = each(() => []);
    return interleave(
      each((name) => measure(script, name)),
      rounds,
    );
  };
  try {
    for (const [title, script] of [
      [`sh that starts ${PROGRAMS} programs`, loop],
      [`make of ${PROGRAMS} programs`, "make -s -j2"],
    ]) {
      await take(script, 1);
      const times = await take(script, ROUNDS);
      const rows = Object.entries(times).map(([name, ms]) => ({
        name,
        ms: Math.round(median(ms)),
        "of none": +(median(ms) / median(times.none)).toFixed(2),
        "CPU ms of the gate, each": +((median(cpuMs[name]) - median(cpuMs.none)) / PROGRAMS).toFixed(3),
      }));
      printTable(`${title}, ${RULES} rules, ${ROUNDS} rounds`, rows);
    }
    console.log(`opening the gate, once for a host: ${openMs.toFixed(0)} ms`);
  } finally {
    await backend.close();
    rmSync(base, { recursive: true, force: true });
  }
}

const targets = () => Array.from({ length: PROGRAMS }, (_, at) => `${at}.x`).join(" ");
