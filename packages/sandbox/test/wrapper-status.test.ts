import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { watchProgram } from "../src/bubblewrap/wrapper-status.js";
import type { WrapperStatus } from "../src/wrapped-command.js";

const children: ReturnType<typeof spawn>[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** The status of a sandbox whose first process is a shell that runs a script and then waits. */
async function startFirst(script: string): Promise<WrapperStatus> {
  const child = spawn("sh", ["-c", `${script}; echo ready; read line`], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  await once(child.stdout, "data");
  return { init: child.pid, exitCode: undefined, started: Promise.resolve(child.pid), ended: new Promise(() => {}) };
}

describe.skipIf(process.platform !== "linux")("the watch of a sandboxed program", () => {
  it("sees an end that its first process waited for and never reported, and none before there is one", async () => {
    const before = await startFirst(":");
    const after = await startFirst("/bin/true");
    const told: string[] = [];
    const unwatch = watchProgram(before, () => told.push("before"));
    await new Promise<void>((resolve) => {
      watchProgram(after, () => {
        told.push("after");
        resolve();
      });
    });
    unwatch();
    expect(told).toEqual(["after"]);
  });
});
