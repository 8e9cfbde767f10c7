import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { ENV, outputOf, STDIO, untilGone, untilOutput } from "../../process-host/test/support.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`a process in a sandbox (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();

  it("reports what this host can do", async () => {
    expect(await sandbox.backend.getSandboxSupport?.()).toEqual({ kind: "bubblewrap" });
  });

  it("writes where it may, and nowhere else", async () => {
    const { output, process } = await sandbox.script(
      "exec 2>&1; echo in > in.txt; echo out > /etc/codex-test; echo $?",
    );
    expect(readFileSync(join(sandbox.base, "in.txt"), "utf8")).toBe("in\n");
    expect(output).toMatch(/Read-only file system\n1\n$/);
    expect(existsSync("/etc/codex-test")).toBe(false);
    expect(process.sandboxType).toBe("linuxSeccomp");
  });

  it("has the system's programs in a minimal one, and nothing else that was not named", async () => {
    const minimal = { type: "special", value: { kind: "minimal" } } as const;
    const narrow = restrict([{ path: minimal, access: "read" }, entry(sandbox.base, "write")]);
    const process = await sandbox.start(["sh", "-c", "ls /; test ! -e /home"], { sandbox: narrow });
    expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    const start = sandbox.start(["true"], { sandbox: narrow, cwd: "/var" });
    await expect(start).rejects.toMatchObject({ code: "sandbox_invalid" });
  });

  it("leaves nothing of what keeps missing names free", async () => {
    await sandbox.script("mkdir .git || touch .codex/x || rmdir .agents || mv .aws elsewhere; true");
    await sandbox.backend.close();
    expect(readdirSync(sandbox.base)).toEqual([]);
  });

  describe.each(STDIO)("on $kind", (stdio) => {
    it.each([0, 1, 3, 126, 255])("ends with exit code %i", async (code) => {
      const { outcome } = await sandbox.script(`exit ${code}`, { stdio });
      expect(outcome).toEqual({ kind: "exited", code });
    });

    it("sees its arguments, its directory and its environment, and nothing besides", async () => {
      const env = { ...ENV, FOO: "b=ä r", PWD: sandbox.base };
      const process = await sandbox.start(["env"], { stdio, env });
      const lines = (await outputOf(process)).trim().split("\n").sort();
      const wanted = { ...env, CODEX_SANDBOX_NETWORK_DISABLED: "1" };
      expect(lines).toEqual(
        Object.entries(wanted)
          .map(([name, value]) => `${name}=${value}`)
          .sort(),
      );
    });

    it("is known by another name", async () => {
      const process = await sandbox.start(["bash", "-c", 'echo "<$0>"; exec -a other bash -c "echo \\$BASH"'], {
        stdio,
        arg0: "renamed",
      });
      expect(await outputOf(process)).toContain("<renamed>");
    });

    it("loses nothing of a burst", async () => {
      const { output } = await sandbox.script("head -c 700000 /dev/zero | tr '\\0' a; printf end", { stdio });
      expect(output.length).toBe(700_003);
    });

    it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("handles %s itself", async (signal) => {
      const script = `trap 'echo caught; exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.01; done`;
      const process = await sandbox.start(["bash", "-c", script], { stdio });
      await untilOutput(process, "ready");
      expect(await process.signal(signal)).toBe(true);
      expect(await process.exited).toEqual({ kind: "exited", code: 7 });
      expect(await outputOf(process)).toContain("caught");
    });

    it("dies of a signal that was sent", async () => {
      const process = await sandbox.start(["bash", "-c", "echo ready; exec sleep 300"], { stdio });
      await untilOutput(process, "ready");
      await process.signal("SIGTERM");
      expect(await process.exited).toEqual({ kind: "signaled", signal: "SIGTERM", by: "terminate" });
    });

    it("can be ended before it has begun", async () => {
      const process = await sandbox.start(["sleep", "300"], { stdio });
      const receipt = await process.terminate({ graceMs: 5_000 });
      expect(receipt).toMatchObject({ running: true, gone: true, outcome: { kind: "signaled", by: "terminate" } });
      expect(receipt.signals).not.toContain("SIGKILL");
    });

    it("is ended with everything that left its session", async () => {
      const script = "setsid sleep 300 & trap '' TERM HUP; echo ready; while :; do sleep 0.01; done";
      const process = await sandbox.start(["bash", "-c", script], { stdio });
      await untilOutput(process, "ready");
      const receipt = await process.terminate({ graceMs: 50 });
      expect(receipt).toMatchObject({ running: true, gone: true, outcome: { kind: "signaled", signal: "SIGKILL" } });
      expect(receipt.members?.map(({ name }) => name)).toContain("bash");
      expect(await untilGone(process.pid!)).toBe(true);
      await process.closed;
    });

    it.each([
      [["no-such-program"], "program_not_found"],
      [["/etc/passwd"], "not_executable"],
    ])("is not started from %j", async (argv, code) => {
      const error = await sandbox.start(argv, { stdio }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StartError);
      expect(error).toMatchObject({ code });
    });
  });

  it("has a terminal where Ctrl-C reaches it", async () => {
    const script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done";
    const process = await sandbox.start(["bash", "-c", script], { stdio: { kind: "pty" } });
    await untilOutput(process, "ready");
    await process.write(Buffer.from("\x03"));
    expect(await process.exited).toEqual({ kind: "exited", code: 7 });
  });

  it("controls jobs on its terminal", async () => {
    const process = await sandbox.start(["bash", "--norc", "-i"], {
      stdio: { kind: "pty", size: { rows: 30, cols: 90 } },
    });
    await process.write(Buffer.from("stty size; sh -c 'echo sta\"\"rted; exec sleep 300'\n"));
    await untilOutput(process, "started");
    expect(await untilOutput(process, "30 90")).toContain("30 90");
    await process.write(Buffer.from("\x1a"));
    await untilOutput(process, "Stopped");
    await process.write(Buffer.from("kill %1; exit 5\n"));
    await process.write(Buffer.from("exit 5\n"));
    expect(await process.exited).toEqual({ kind: "exited", code: 5 });
  });

  it("takes input", async () => {
    const process = await sandbox.start(["cat"], { stdio: { kind: "pipe", stdin: "open" } });
    await process.write(Buffer.from("hello"));
    await process.closeStdin();
    expect(await outputOf(process)).toBe("hello");
  });

  it("ends what it left running, with its exit", async () => {
    const { process, output } = await sandbox.script("(setsid sh -c 'sleep 300; echo late') & echo $!; exit 2");
    expect(process.outcome).toEqual({ kind: "exited", code: 2 });
    expect(output).toMatch(/^\d+\n$/);
  });

  it("is not started where its program or its directory cannot be seen", async () => {
    const hidden = join(sandbox.base, "hidden");
    mkdirSync(hidden);
    writeFileSync(join(hidden, "run"), "#!/bin/sh\n", { mode: 0o755 });
    const closed = restrict([READ_ALL, entry(hidden, "deny")]);
    await expect(sandbox.start([join(hidden, "run")], { sandbox: closed })).rejects.toMatchObject({
      code: "sandbox_invalid",
      message: expect.stringContaining("program"),
    });
    await expect(sandbox.start(["true"], { sandbox: closed, cwd: hidden })).rejects.toMatchObject({
      code: "sandbox_invalid",
      message: expect.stringContaining("working directory"),
    });
    await expect(sandbox.start(["true"], { sandbox: restrict([]) })).rejects.toMatchObject({ code: "sandbox_invalid" });
  });

  it.each([
    { permissions: { type: "disabled" as const } },
    { permissions: { type: "external" as const, network: "enabled" as const } },
  ])("has none for permissions $permissions.type", async (spec) => {
    const { process } = await sandbox.script("true", { sandbox: spec });
    expect(process.sandboxType).toBeUndefined();
  });
});
