import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, it, onTestFinished } from "vitest";
import { NO_BUBBLEWRAP } from "../../../sandbox/test/support.js";

const PROGRAM = fileURLToPath(new URL("programs/without-descriptors.mjs", import.meta.url));
/** The command is built as one program: its parts cannot be imported. */
const DOCTOR = fileURLToPath(new URL("../../../cli/src/doctor/run-program.ts", import.meta.url));

it("a program that cannot be started for lack of descriptors is an error that says so, and ends no other work", async () => {
  const directory = mkdtempSync(join(tmpdir(), "codex-doctor-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const doctor = join(directory, "run-program.mjs");
  await build({ entryPoints: [DOCTOR], bundle: true, platform: "node", format: "esm", outfile: doctor });
  const argv = ["-c", 'ulimit -n 256 && exec "$0" "$@"', process.execPath, PROGRAM, doctor];
  // In a process group of its own: a signal to a program that was never started would go to the group, and end the tests.
  const program = spawn("/bin/sh", argv, { stdio: ["ignore", "pipe", "inherit"], detached: true });
  const said: Record<string, string[]> = JSON.parse(await text(program.stdout));
  // A link goes on without a guard.
  expect(new Set(said.guard)).toEqual(new Set(["started"]));
  for (const way of ["connectStdio", "environment", "doctor", "background", "helper"]) {
    expect(said[way]?.[0], way).toMatch(/EMFILE/);
    expect(said[way]?.at(-1), way).toBe("started");
    for (const result of said[way] ?? []) expect(result, way).toMatch(/^started$|EMFILE/);
  }
  for (const result of NO_BUBBLEWRAP === undefined ? (said.sandbox ?? []) : []) {
    expect(result).toMatch(/^started$|EMFILE|too many open files/i);
  }
});
