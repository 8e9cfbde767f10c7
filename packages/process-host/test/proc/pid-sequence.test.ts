import { describe, expect, it } from "vitest";
import { PID_ROUND_CHECK_MS, PID_ROUND_REFRESH_MS } from "../../src/limits.js";
import { PidSequence } from "../../src/proc/pid-sequence.js";

/** A host of which as many processes were started as are said here. */
function createHost({ started = 5_000, last = 700, max = 32_768 } = {}) {
  const host = { started, last, now: 0 };
  const files: Record<string, () => string> = {
    stat: () => `cpu  1 2 3\nctxt 9\nprocesses ${host.started}\nprocs_running 2\n`,
    loadavg: () => `0.10 0.20 0.30 1/180 ${host.last}\n`,
    "sys/kernel/pid_max": () => `${max}\n`,
  };
  const sequence = new PidSequence({ readProc: (name) => files[name]!(), now: () => host.now });
  const start = (count: number, last: number) => {
    host.started += count;
    host.last = last;
    host.now += PID_ROUND_CHECK_MS + 1;
  };
  return { host, sequence, start };
}

describe("the pids since a first process", () => {
  it("end with the one assigned last", () => {
    const { sequence, start } = createHost();
    const first = sequence.getNext()!;
    expect(first).toEqual({ pid: 701, started: 5_000 });
    expect(sequence.readLastSince(first)).toBeUndefined(); // it was not started yet
    start(200, 900);
    expect(sequence.readLastSince(first)).toBe(900);
  });

  it("are not known when pids have started over", () => {
    const { sequence, start } = createHost({ last: 32_000 });
    const first = sequence.getNext()!;
    start(1_000, 532);
    expect(sequence.readLastSince(first)).toBeUndefined();
  });

  it("are not known when pids may have started over and come by again", () => {
    const { sequence, start } = createHost();
    const first = sequence.getNext()!;
    start(32_768 / 2 - 1, 17_000);
    expect(sequence.readLastSince(first)).toBe(17_000);
    start(1, 17_001);
    expect(sequence.readLastSince(first)).toBeUndefined();
  });

  it("are not known where /proc does not have the counts", () => {
    const noCounts = new PidSequence({ readProc: (name) => (name === "loadavg" ? "0 0 0 1/2 50" : "cpu 1") });
    expect(noCounts.readLastSince({ pid: 10, started: noCounts.started })).toBeUndefined();
    const refused = () => {
      throw new Error("EACCES");
    };
    expect(new PidSequence({ readProc: refused }).getNext()).toBeUndefined();
  });

  it("begin with a count that is at most some seconds old", () => {
    const { host, sequence } = createHost();
    expect(sequence.started).toBe(5_000);
    host.started = 9_000;
    expect(sequence.started).toBe(5_000);
    host.now += PID_ROUND_REFRESH_MS + 1;
    expect(sequence.started).toBe(9_000);
  });
});
