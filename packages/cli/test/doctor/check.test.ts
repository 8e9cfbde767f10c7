import { expect, it } from "vitest";
import { ok, runChecks } from "../../src/doctor/check.js";
import { runProgram } from "../../src/doctor/run-program.js";

it("a check that throws, rejects or hangs is a problem, and the others still run", async () => {
  const aborted: boolean[] = [];
  const rows = await runChecks(
    [
      {
        name: "throws",
        run: () => {
          throw new Error("boom");
        },
      },
      { name: "rejects", run: () => Promise.reject(new Error("bang")) },
      {
        name: "hangs",
        run: (signal) => new Promise(() => signal.addEventListener("abort", () => void aborted.push(true))),
      },
      { name: "works", run: () => ok("fine") },
    ],
    20,
  );
  expect(rows.map(({ name, status, detail }) => [name, status, detail])).toEqual([
    ["throws", "problem", "could not be checked: boom"],
    ["rejects", "problem", "could not be checked: bang"],
    ["hangs", "problem", "no result within 20 ms"],
    ["works", "ok", "fine"],
  ]);
  expect(aborted).toEqual([true]);
});

it("a program that does not end in time is killed with its children", async () => {
  const { timedOut, stdout } = await runProgram("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"], { timeoutMs: 200 });
  expect(timedOut).toBe(true);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(1);
  // The process has no parent here: its pid is free once init has reaped it.
  for (let alive = true; alive; await new Promise((resolve) => setImmediate(resolve))) {
    try {
      process.kill(pid, 0);
    } catch {
      alive = false;
    }
  }
});

it("a program whose child keeps the output open does not block the check", async () => {
  const { code, stdout } = await runProgram("/bin/sh", ["-c", "sleep 1000 & echo told"]);
  expect([code, stdout]).toEqual([0, "told\n"]);
});
