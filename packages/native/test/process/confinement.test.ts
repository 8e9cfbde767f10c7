import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findConfinement } from "../../src/process/confinement.js";

/** A directory with the lines of two processes. */
function createProc(own: string, other: string): string {
  const directory = mkdtempSync(join(tmpdir(), "proc-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, status] of [
    ["self", own],
    ["7", other],
  ] as const) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, "status"), status);
  }
  return directory;
}

describe("a process is confined", () => {
  it.each([
    [
      "in a namespace below",
      "NSpid:\t5\nSeccomp:\t0\n",
      "NSpid:\t7\t1\nSeccomp:\t0\n",
      "a process namespace of its own",
    ],
    ["with a filter", "NSpid:\t5\nSeccomp:\t0\n", "NSpid:\t7\nSeccomp:\t2\n", "system calls of it are filtered"],
    [
      "with one more",
      "NSpid:\t5\nSeccomp:\t2\nSeccomp_filters:\t1\n",
      "NSpid:\t7\nSeccomp:\t2\nSeccomp_filters:\t2\n",
      "filtered",
    ],
  ])("%s", (_name, own, other, reason) => {
    expect(findConfinement(7, createProc(own, other))).toContain(reason);
  });

  it("where there is none of its number", () => {
    expect(findConfinement(8, createProc("NSpid:\t5\n", "NSpid:\t7\n"))).toContain("another process namespace");
  });
});

it("is not confined with what this process has, in a container as well", () => {
  const status = "NSpid:\t5\t2\nSeccomp:\t2\nSeccomp_filters:\t1\n";
  expect(findConfinement(7, createProc(status, status))).toBeUndefined();
  expect(findConfinement(process.pid)).toBeUndefined();
  expect(findConfinement(1, "/nonexistent")).toBeUndefined();
});

const noNamespace = (() => {
  try {
    execFileSync("unshare", ["--user", "--pid", "--fork", "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "no user namespaces";
  }
})();

it.skipIf(noNamespace !== undefined)(
  `is confined in a process namespace${noNamespace === undefined ? "" : `: ${noNamespace}`}`,
  async () => {
    const child = spawn("unshare", ["--user", "--pid", "--fork", "sh", "-c", "echo; read _; :"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const [inner = ""] = execFileSync("ps", ["-o", "pid=", "--ppid", String(child.pid)], { encoding: "utf8" })
      .trim()
      .split("\n");
    expect(findConfinement(Number(inner))).toContain("a process namespace of its own");
    const ended = once(child, "exit");
    child.stdin.end();
    await ended;
  },
);
