import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../src/node/run-command.js";

it("what a hook has written in time counts, also when this process had no time to read it", async () => {
  // The shell has ended by the pause; what it has left behind writes while nothing is read, before its time is over.
  const hook = { command: "(sleep 0.3; echo late) & echo early", timeoutMs: 20_000, env: {} };
  const running = runCommand(
    hook as never,
    "",
    { shell: "/bin/sh", directory: "/", env: process.env } as never,
    undefined,
  );
  await pause(150);
  // Of what follows, timers come first.
  setImmediate(() => {
    for (const until = performance.now() + 900; performance.now() < until; );
  });
  expect(await running).toMatchObject({ kind: "exited", code: 0, stdout: "early\nlate\n" });
});

it.each([undefined, "0", "1", "x"])("bash as a hook does not read ~/.bashrc, with SHLVL %j", async (SHLVL) => {
  const home = mkdtempSync(join(tmpdir(), "hook-home-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, ".bashrc"), "echo of the person\n");
  const env = { ...process.env, HOME: home, SHLVL };
  const hook = { command: "cat", timeoutMs: 20_000, env: {} };
  const ran = await runCommand(hook as never, "input", { shell: "/bin/bash", directory: "/", env } as never, undefined);
  expect(ran).toMatchObject({ kind: "exited", stdout: "input" });
});
