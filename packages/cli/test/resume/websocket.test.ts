import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectWebSocket, createOrchestrator, type OrchestratorOptions } from "@codex/orchestrator";
import { type CuttingProxy, createCuttingProxy } from "@codex/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { untilGone } from "../../../process-host/test/support.js";
import { finish, useCommand } from "../support.js";
import { Collected, sessionOf } from "./support.js";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("codex executor on a websocket that breaks", () => {
  const command = useCommand();
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function listen(args: readonly string[] = []) {
    const { child, url } = await command.listen(args);
    const proxy = await createCuttingProxy(url);
    closing.push(() => proxy.close());
    const directory = mkdtempSync(join(tmpdir(), "codex-resume-"));
    closing.push(() => rmSync(directory, { recursive: true, force: true }));
    return { child, url, proxy, directory };
  }

  async function attach(proxy: CuttingProxy, options: Partial<OrchestratorOptions> = {}) {
    const events: string[] = [];
    const orchestrator = createOrchestrator({
      policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
      onOffline: (_name, _reason, reconnecting) => void events.push(reconnecting ? "offline" : "gone"),
      onOnline: (_name, { resumed }) => void events.push(resumed ? "online" : "renewed"),
      defaults: { timings: { reconnectBaseMs: 5, reconnectMaxMs: 50 } },
      ...options,
    });
    closing.push(() => orchestrator.close());
    await orchestrator.attach({ name: "main", reconnect: (signal) => connectWebSocket(proxy.url, { signal }) });
    return { orchestrator, events };
  }

  it("streams 30 MB through one cut after the other, without loss or repetition", { timeout: 120_000 }, async () => {
    const { proxy, directory } = await listen();
    const wanted = randomBytes(30_000_000);
    writeFileSync(join(directory, "data"), wanted);
    const { orchestrator, events } = await attach(proxy);
    const output = new Collected();
    let cuts = 0;
    const cut = () => {
      cuts += 1;
      if (cuts <= 12) proxy.cutAfterReceived([1, 7, 1_001, 65_537, 300_007][cuts % 5]!);
    };
    cut();
    const running = orchestrator.runCommand(
      { argv: ["cat", join(directory, "data")], env: {}, tty: false },
      {
        onOutput: (piece) => {
          output.take(piece);
          // A cut is over once something comes again.
          if (proxy.connections > cuts) cut();
        },
      },
    );
    expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    expect(output.faults).toEqual([]);
    expect(sha256(output.bytes)).toBe(sha256(wanted));
    expect(proxy.connections).toBeGreaterThan(10);
    expect(events.filter((event) => event === "renewed" || event === "gone")).toEqual([]);
  });

  it("takes 1 MB of input through cuts, every byte once", { timeout: 120_000 }, async () => {
    const { proxy } = await listen();
    const { orchestrator } = await attach(proxy);
    const input = randomBytes(1_000_000);
    const output = new Collected();
    const request = { argv: ["cat"], env: {}, tty: false, stdin: "open" as const };
    const running = orchestrator.runCommand(request, { onOutput: output.take });
    for (let at = 0, cuts = 0; at < input.length; at += 50_000, cuts++) {
      if (cuts % 3 === 0) proxy.cutAfterSent([1, 500, 30_000, 70_000][(cuts / 3) % 4]!);
      await running.write(input.subarray(at, at + 50_000));
    }
    await running.closeStdin();
    expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    expect(output.faults).toEqual([]);
    expect(sha256(output.bytes)).toBe(sha256(input));
    expect(proxy.connections).toBeGreaterThan(4);
  });

  it("is found again behind a wire that is dead without a word", { timeout: 60_000 }, async () => {
    const { proxy } = await listen();
    const timings = { reconnectBaseMs: 5, reconnectMaxMs: 50, livenessMs: 50 };
    const { orchestrator, events } = await attach(proxy, { defaults: { timings } });
    const output = new Collected();
    const running = orchestrator.runCommand(
      { argv: ["sh", "-c", "echo one; read x; echo two $x"], env: {}, tty: false, stdin: "open" },
      { onOutput: output.take },
    );
    await running.write(Buffer.alloc(0));
    proxy.stall();
    await running.write(Buffer.from("go\n"));
    expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    expect(output.faults).toEqual([]);
    expect(output.bytes.toString()).toBe("one\ntwo go\n");
    expect(events).toContain("online");
  });

  it("is found again behind such a wire also while nothing is asked of it", { timeout: 60_000 }, async () => {
    const { proxy } = await listen(["--resume-grace", "1000"]);
    const timings = { reconnectBaseMs: 5, reconnectMaxMs: 50, livenessMs: 50 };
    const { orchestrator, events } = await attach(proxy, { defaults: { timings } });
    const started = await orchestrator.callTool("exec_command", { cmd: "exec cat", tty: true, yield_time_ms: 250 });
    proxy.stall();
    await expect.poll(() => events, { timeout: 20_000 }).toEqual(["offline", "online"]);
    const typed = { session_id: sessionOf(started), chars: "here\n", yield_time_ms: 1_000 };
    expect((await orchestrator.callTool("write_stdin", typed)).text).toContain("here");
  });

  it("that was killed and started again has lost its sessions, and says so instead of an exit", {
    timeout: 60_000,
  }, async () => {
    const { child, proxy, url, directory } = await listen();
    const exits: unknown[] = [];
    const { orchestrator, events } = await attach(proxy, { onSessionExited: (exit) => void exits.push(exit) });
    const onOutput = new Collected().take;
    const cmd = `echo run >>${directory}/effects; echo ready; sleep 1000`;
    const started = await orchestrator.callTool("exec_command", { cmd, until: "output" }, { onOutput });
    const session_id = sessionOf(started);
    const waits = orchestrator.callTool("write_stdin", { session_id, yield_time_ms: 300_000 });
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
    const port = new URL(url).port;
    command.start(["executor", "--listen", `ws://127.0.0.1:${port}`]);
    const result = await waits;
    expect(result).toMatchObject({
      status: "lost",
      isError: true,
      structured: { outcome: { kind: "lost" }, sessionId: session_id, lastOffset: 6 },
    });
    expect(result.text).toMatch(/could not be resumed.*unknown resumeSessionId.*was running when it was last seen/s);
    expect(events).toEqual(["offline", "renewed"]);
    expect(await orchestrator.callTool("write_stdin", { session_id })).toMatchObject({
      status: "lost",
      structured: { outcome: { kind: "lost", reason: expect.stringMatching(/unknown resumeSessionId/) } },
    });
    const again = await orchestrator.callTool("exec_command", { cmd: "echo fresh" });
    expect(again).toMatchObject({ status: "success", structured: { outcome: { kind: "exited", code: 0 } } });
    expect(readFileSync(join(directory, "effects"), "utf8")).toBe("run\n");
    expect(exits).toEqual([]);
  });

  it("that stays away has lost its sessions once the grace is over", { timeout: 60_000 }, async () => {
    const { child, proxy } = await listen(["--resume-grace", "0.3"]);
    const { orchestrator, events } = await attach(proxy);
    const started = await orchestrator.callTool("exec_command", { cmd: "echo ready; sleep 1000", until: "output" });
    child.kill("SIGKILL");
    const session_id = sessionOf(started);
    const waits = await orchestrator.callTool("write_stdin", { session_id, yield_time_ms: 300_000 });
    expect(waits.text).toMatch(/was not reached again within 300 ms/);
    expect(waits.status).not.toBe("success");
    expect(events).toEqual(["offline", "gone"]);
    expect((await orchestrator.callTool("exec_command", { cmd: "true" })).structured).toMatchObject({
      code: "executor_offline",
    });
  });

  it("carries `codex run` on, whichever way the wire breaks", { timeout: 120_000 }, async () => {
    const { proxy, directory } = await listen();
    const effects = join(directory, "effects");
    const script = `echo run >>${effects}; i=0; while [ $i -lt 3000 ]; do echo "line $i of a text"; i=$((i+1)); done; cat; exit 7`;
    const wanted = `${Array.from({ length: 3000 }, (_, index) => `line ${index} of a text\n`).join("")}typed\n`;
    const run = command.start(["run", "--executor", proxy.url, "--", "sh", "-c", script]);
    const finished = finish(run);
    let cuts = 0;
    run.stdout.on("data", () => {
      if (cuts++ < 8) proxy[cuts % 2 === 0 ? "cutAfterReceived" : "cutAfterSent"]([3, 40, 200][cuts % 3]!);
    });
    run.stdin.end("typed\n");
    const { code, stdout, stderr } = await finished;
    expect(code).toBe(7);
    expect(stderr.replace(/^codex: (connection lost, trying again… .*|connected again)\n/gm, "")).toBe("");
    expect(stdout.toString()).toBe(wanted);
    expect(readFileSync(effects, "utf8")).toBe("run\n");
    expect(proxy.connections).toBeGreaterThan(1);
  });

  it("leaves nothing behind when `codex run` is killed and nobody comes back", { timeout: 60_000 }, async () => {
    const { proxy, directory } = await listen(["--resume-grace", "0.2"]);
    const pidFile = join(directory, "pid");
    const script = `echo $$ >${pidFile}.new; mv ${pidFile}.new ${pidFile}; trap '' TERM HUP; echo ready; while :; do sleep 1; done`;
    const run = command.start(["run", "--executor", proxy.url, "--", "sh", "-c", script]);
    await once(run.stdout, "data");
    run.kill("SIGKILL");
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(await untilGone(pid, 20_000)).toBe(true);
  });
});
