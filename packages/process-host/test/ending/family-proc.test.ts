import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createMarks, createNative, hasEnded, type Native, readProcessStat } from "@codex/native";
import { describe, expect, it } from "vitest";
import { watchByProc } from "../../src/ending/family-proc.js";
import { KILL_NEWEST_MISSES, KILL_NEWEST_PIDS, MIN_NEWEST_ENDED } from "../../src/limits.js";
import { createLocalBackend } from "../../src/local-backend.js";
import { PidSequence } from "../../src/proc/pid-sequence.js";
import { ENV } from "../support.js";

const isLinux = process.platform === "linux";

/** Records the pids whose marks are read. */
function record() {
  const native = createNative();
  const pids: number[] = [];
  const marks: NonNullable<Native["marks"]> = {
    give: (mark, start) => native.marks!.give(mark, start),
    get(pid) {
      if (pid !== process.pid) pids.push(pid);
      return native.marks!.get(pid);
    },
  };
  return { native: { ...native, marks }, pids };
}

/** Ends once the shell is another program, which does not collect it. */
const ENDED_CHILD = '{ while read -r name </proc/$$/comm && [ "$name" != sleep ]; do :; done; } &';

/** The kernel's highest is 4,194,304. */
const ABOVE_ALL_PIDS = 5_000_000;

const everything = { getGroup: () => undefined, marks: createMarks(), wanted: undefined, first: undefined };

describe.skipIf(!isLinux)(`a search in /proc${isLinux ? "" : ": skipped, /proc is Linux's"}`, () => {
  it("inspects none of the processes that are older than the family", async () => {
    const { native, pids } = record();
    const host = createLocalBackend({ native, closeGraceMs: 0 });
    // Other programs may start many processes in the meantime, or make pids start over: not three times.
    const inspectsOlder: boolean[] = [];
    for (let run = 0; run < 3; run += 1) {
      const argv = ["sleep", "300"];
      const started = await host.start({ argv, cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" } });
      pids.length = 0;
      const receipt = await started.terminate({ graceMs: 0 });
      expect(receipt).toMatchObject({ gone: true, members: [{ pid: started.pid }], strays: [] });
      inspectsOlder.push(pids.some((pid) => pid < started.pid!));
    }
    await host.close();
    expect(inspectsOlder).toContain(false);
  });

  it("lets other work run while it inspects all processes of the host", async () => {
    const { native, pids } = record();
    let ms = 0;
    const search = watchByProc({ ...everything, pids: new PidSequence() }, native, () => ms++);
    let turns = 0;
    let immediate = setImmediate(function count() {
      turns += 1;
      immediate = setImmediate(count);
    });
    await search.list();
    clearImmediate(immediate);
    expect(pids.length).toBeGreaterThan(0);
    expect(turns).toBeGreaterThanOrEqual(pids.length - 1);
  });

  it.each([
    ["kills the newest of a family where others had ended before they could be inspected", ENDED_CHILD, "SIGKILL"],
    ["kills nothing where none had", "", "SIGTERM"],
  ] as const)("%s", async (_name, script, signal) => {
    const native = createNative();
    const marks = createMarks();
    const mark = marks.next();
    const argv = ["-c", `${script} exec sleep 300`];
    const child = native.marks!.give(mark, () => spawn("bash", argv, { stdio: "ignore" }));
    await expect.poll(() => readProcessStat(child.pid!)?.name).toBe("sleep");
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").split(" ").filter(Boolean);
    expect(children).toHaveLength(script === "" ? 0 : 1);
    await expect.poll(() => children.every((pid) => hasEnded(readProcessStat(Number(pid))))).toBe(true);
    const readProc = () => `0 0 0 1/2 ${child.pid! + 2}`;
    const pids = new PidSequence({ readProc });
    const search = watchByProc({ ...everything, marks, wanted: new Set([mark]), pids }, native);
    await search.list();
    search.killNewest!();
    expect(child.kill("SIGTERM")).toBe(true);
    await once(child, "exit");
    expect(child.signalCode).toBe(signal);
  });

  it.each([
    [MIN_NEWEST_ENDED - 1, 1],
    [MIN_NEWEST_ENDED, 1 + KILL_NEWEST_MISSES],
  ])("with %d of the newest ended before anything is listed, checks the newest %d times", (ended, checks) => {
    const marks = createMarks();
    const mark = marks.next();
    const get = (pid: number) => (pid > ABOVE_ALL_PIDS && pid <= ABOVE_ALL_PIDS + ended ? mark : undefined);
    let reads = 0;
    const readProc = () => {
      reads += 1;
      return `0 0 0 1/2 ${ABOVE_ALL_PIDS + KILL_NEWEST_PIDS}`;
    };
    const first = { pid: ABOVE_ALL_PIDS, started: 1 };
    const native = { ...createNative(), marks: { give: <T>(_mark: bigint, start: () => T) => start(), get } };
    watchByProc({ ...everything, marks, wanted: new Set([mark]), first, pids: new PidSequence({ readProc }) }, native)
      .killNewest!();
    expect(reads).toBe(checks);
  });

  it("signals nothing that it did not find", async () => {
    const search = watchByProc({ ...everything, pids: new PidSequence() }, createNative());
    await search.list();
    expect(search.signal(process.pid, "SIGCONT")).toBe(false);
  });
});
