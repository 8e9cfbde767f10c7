// Rules for the programs of a process, as far as a backend holds them.
import { createNative, GateError } from "@codex/native";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalBackend, type LocalBackendOptions } from "../src/index.js";

const isLinux = process.platform === "linux";
const gate = {
  rules: [{ id: "no touch", pattern: [["touch"]], decision: "refuse", place: { kind: "inside" } } as const].map(
    (rule) => ({
      ...rule,
      pattern: rule.pattern.map((words) => [...words]),
    }),
  ),
  hostExecutables: [],
  approved: [],
};
const SCRIPT = 'a=to; b=uch; "$a$b" /nonexistent/made; echo "exit $?"';

async function run(options: LocalBackendOptions = {}, script = SCRIPT) {
  const backend = createLocalBackend(options);
  onTestFinished(() => backend.close());
  const spec = { argv: ["/bin/sh", "-c", script], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
  const started = await backend.start({ ...spec, stdio: { kind: "pipe", stdin: "null" }, gate });
  await started.closed;
  const { chunks } = await started.log.read(0, started.log.end);
  const output = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
  return { state: started.gate, outcome: started.outcome, output };
}

describe.runIf(isLinux)("a gate", () => {
  it("refuses what its rules refuse, and reports it", async () => {
    const { state, outcome, output } = await run();
    expect(output).toContain("exit 126");
    expect(outcome).toEqual({ kind: "exited", code: 0 });
    const report = { argv: ["touch", "/nonexistent/made"], decision: "refused", reason: "rule", rule: "no touch" };
    expect(state).toMatchObject({ kind: "held", reports: [report], omitted: 0 });
  });

  it("holds the rules of several processes apart", async () => {
    const backend = createLocalBackend();
    onTestFinished(() => backend.close());
    const spec = { argv: ["/bin/sh", "-c", SCRIPT], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const gates = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? { gate } : {}));
    const processes = await Promise.all(gates.map((each) => backend.start({ ...spec, stdio, ...each })));
    await Promise.all(processes.map(({ closed }) => closed));
    const kinds = processes.map((each) => (each.gate?.kind === "held" ? each.gate.reports.length : undefined));
    expect(kinds).toEqual(gates.map((each) => ("gate" in each ? 1 : undefined)));
  });

  it("that cannot be opened is told, and the process runs", async () => {
    const openGate = () => Promise.reject(new Error("there is no exec gate"));
    const native = new Proxy(createNative(), {
      get: (target, name) => (name === "openGate" ? openGate : Reflect.get(target, name)),
    });
    const { state, output } = await run({ native }, "echo runs");
    expect(state).toEqual({ kind: "missing", reason: "there is no exec gate" });
    expect(output).toBe("runs\n");
  });

  it("that fails is opened again", async () => {
    const native = createNative();
    let opened = 0;
    const openGate = async () => {
      const gate = await native.openGate();
      opened += 1;
      return opened > 1
        ? gate
        : Object.assign(gate, { spawn: () => Promise.reject(new GateError("worker_threads", "over")) });
    };
    const failing = new Proxy(native, {
      get: (target, name) => (name === "openGate" ? openGate : Reflect.get(target, name)),
    });
    const backend = createLocalBackend({ native: failing });
    onTestFinished(() => backend.close());
    const spec = { argv: ["/bin/true"], cwd: "/", env: {}, stdio: { kind: "pipe", stdin: "null" } } as const;
    await expect(backend.start({ ...spec, gate })).rejects.toThrow("there is no exec gate");
    const second = await backend.start({ ...spec, gate });
    expect(await second.exited).toEqual({ kind: "exited", code: 0 });
    expect(second.gate).toMatchObject({ kind: "held" });
  });

  it("with unusable rules starts nothing", async () => {
    const backend = createLocalBackend();
    onTestFinished(() => backend.close());
    const spec = { argv: ["/bin/true"], cwd: "/", env: {}, stdio: { kind: "pipe", stdin: "null" } } as const;
    const empty = { ...gate, rules: gate.rules.map((rule) => ({ ...rule, pattern: [] })) };
    await expect(backend.start({ ...spec, gate: empty })).rejects.toThrow(
      "the rule no touch has a word without alternatives",
    );
  });
});
