import { expect, it } from "vitest";
import { ok, runChecks } from "../src/check.js";
import { runProgram } from "../src/run-program.js";

it("a check that throws, rejects or never ends is a problem, and the others go on", async () => {
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

it("a program that does not end is ended with what it started", async () => {
  const { timedOut, stdout } = await runProgram("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"], { timeoutMs: 200 });
  expect(timedOut).toBe(true);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(1);
  // It is nobody's child here: its number is free once init has taken note.
  for (let alive = true; alive; await new Promise((resolve) => setImmediate(resolve))) {
    try {
      process.kill(pid, 0);
    } catch {
      alive = false;
    }
  }
});

it("a program whose child holds the output does not hold the check", async () => {
  const { code, stdout } = await runProgram("/bin/sh", ["-c", "sleep 1000 & echo told"]);
  expect([code, stdout]).toEqual([0, "told\n"]);
});
