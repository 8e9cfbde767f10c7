import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectStdio, type StdioCommand } from "@codex/orchestrator";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { spawnExecutor } from "../../src/connect/child.js";
import { closeAfterTest } from "../support/executors.js";
import { stage } from "../support/orchestrators.js";
import { isAlive, waitUntilGone } from "../support/processes.js";

const program = (name: string) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
const node = (script: string): StdioCommand => ({ command: process.execPath, args: ["-e", script] });
const SCRIPTED: StdioCommand = { command: process.execPath, args: [program("scripted-executor.mjs")] };

/** A started child and the first it said, by which its handlers are in place. */
async function started(command: StdioCommand) {
  const child = await spawnExecutor(command);
  closeAfterTest(() => child.end());
  const [said] = await once(child.streams.input, "data");
  return { child, said: String(said) };
}

describe("connectStdio", () => {
  it("starts an executor and ends it with the connection", async () => {
    const words: string[] = [];
    const { orchestrator } = stage();
    const channel = await connectStdio({ ...SCRIPTED, onStderr: (bytes) => words.push(bytes.toString()) });
    await orchestrator.attach({ name: "child", channel });
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "success", structured: { exitCode: 0 } });
    await orchestrator.close();
    expect(await channel.closed).toEqual({ kind: "closed" });
    expect(words.join("")).toBe("scripted executor is here\n");
  });

  it.each([
    [{ command: "/no/such/program" }, /executor command `\/no\/such\/program` could not be started: .*ENOENT/],
    [{ command: process.execPath, cwd: "/no/such/directory" }, /in `\/no\/such\/directory` could not be started/],
    [{ command: "a\0b" }, /could not be started/],
  ])("names the command that cannot be started: %j", async (command, message) => {
    await expect(connectStdio(command)).rejects.toThrow(message);
    await expect(connectStdio(command)).rejects.toMatchObject({ code: "connect_failed" });
  });

  it("tells how an executor ended that was not asked to, with its last words", async () => {
    const { orchestrator } = stage();
    const attaching = orchestrator.attach({
      name: "child",
      channel: connectStdio(node('console.error("no licence"); process.exit(9)')),
    });
    await expect(attaching).rejects.toThrow(/exited with code 9; last on its stderr: no licence/);
  });

  it("sees the end of an executor whose child holds its stdout", async () => {
    const script = `
      const { spawn } = require("node:child_process");
      const child = spawn("sleep", ["60"], { stdio: ["ignore", "inherit", "ignore"], detached: true });
      child.unref();
      process.stdout.write(JSON.stringify({ type: "started", pid: child.pid }) + "\\n", () => process.exit(0));`;
    const channel = await connectStdio(node(script));
    const received = await channel.receive();
    const pid = received?.kind === "value" ? Number(Reflect.get(Object(received.value), "pid")) : Number.NaN;
    try {
      expect(await channel.receive()).toBeUndefined();
      expect(await channel.closed).toEqual({ kind: "peer_closed", detail: "the executor process exited with code 0" });
    } finally {
      process.kill(pid, "SIGKILL");
    }
    await channel.close();
  });
});

describe("the end of an executor process", () => {
  it("is its own decision at first: its stdin ends", async () => {
    const { child } = await started(node('process.stdin.resume().on("end", () => process.exit(0)); console.log("{}")'));
    await child.end();
    expect(await child.exited).toBe("exited with code 0");
  });

  it("is SIGTERM when it stays", async () => {
    const { child } = await started({ ...node('setInterval(() => {}, 1e9); console.log("{}")'), endGraceMs: 1 });
    await child.end();
    expect(await child.exited).toBe("was ended by SIGTERM");
  });

  it("is SIGKILL to the whole group when that is ignored", async () => {
    const script = `
      process.on("SIGTERM", () => {});
      const code = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e9); console.log(process.pid)';
      require("node:child_process").spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "ignore"] });`;
    const { child, said } = await started({ ...node(script), endGraceMs: 1, killGraceMs: 1 });
    const grandchild = Number(said);
    expect(isAlive(grandchild)).toBe(true);
    await child.end();
    expect(await child.exited).toBe("was ended by SIGKILL");
    await waitUntilGone(grandchild);
  });

  it("comes by itself when the orchestrator dies of SIGKILL", async () => {
    const directory = mkdtempSync(join(tmpdir(), "orchestrator-test-"));
    closeAfterTest(async () => rmSync(directory, { recursive: true }));
    const outfile = join(directory, "parent.mjs");
    await build({ entryPoints: [program("parent.ts")], outfile, bundle: true, platform: "node", format: "esm" });
    const args = [outfile, program("scripted-executor.mjs")];
    const { child, said } = await started({ command: process.execPath, args });
    const executor = Number(said);
    expect(isAlive(executor)).toBe(true);
    process.kill(child.pid ?? Number.NaN, "SIGKILL");
    await waitUntilGone(executor);
    expect(await child.exited).toBe("was ended by SIGKILL");
  });

  it("is not started, or not kept, when that is aborted", async () => {
    const command = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
    await expect(connectStdio({ ...command, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "connect_failed",
    });
    const abort = new AbortController();
    const connecting = connectStdio({ ...command, signal: abort.signal });
    abort.abort();
    await expect(connecting).rejects.toMatchObject({ code: "connect_failed", message: expect.stringMatching(/abort/) });
  });
});
