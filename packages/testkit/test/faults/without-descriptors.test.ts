import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { NO_BUBBLEWRAP } from "../../../sandbox/test/support.js";

const PROGRAM = fileURLToPath(new URL("programs/without-descriptors.mjs", import.meta.url));

it("a program that cannot be started for lack of descriptors is an error that says so, and ends no other work", () => {
  const argv = ["-c", 'ulimit -n 256 && exec "$0" "$@"', process.execPath, PROGRAM];
  const said: Record<string, string[]> = JSON.parse(execFileSync("/bin/sh", argv, { encoding: "utf8" }));
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
