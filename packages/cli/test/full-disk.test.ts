import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { verifyAuditFiles } from "@codex/audit";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import type { RecordedOutput } from "@codex/executor-protocol";
import { connectStdio, connectWebSocket, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { OUTPUT_TAIL_BYTES } from "@codex/servers";
import { findSmallDiskProblem, openSmallDisk, type SmallDisk } from "@codex/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "./support.js";

const problem = findSmallDiskProblem();

/** Eight bytes for each number: any that is not at its place is seen. */
const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(7, "0")}\n`).join("");

/** Says the numbers that it is asked for, `FROM LAST` a line. */
const TELLER = "stty -echo -opost; echo ready!!; while read from last; do seq -f %07.0f $from $last; done";
const READY = 8;
/** All that it ever says here. */
const TOLD = Buffer.from(`ready!!\n${numbers(0, 650_000)}`);

describe.skipIf(problem !== undefined)(`on a disk that is full${problem === undefined ? "" : ` (${problem})`}`, () => {
  const command = useCommand();
  const closing: (() => Promise<unknown>)[] = [];
  let disk: SmallDisk;
  beforeEach(async () => {
    disk = await openSmallDisk(64 * 1024);
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await disk.close();
  });

  /** An orchestrator over an executor whose temporary files are on the disk. */
  async function attach(own: SmallDisk = disk): Promise<Orchestrator> {
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    closing.push(() => orchestrator.close());
    const env = { ...process.env, TMPDIR: own.path };
    await orchestrator.attach({
      name: "main",
      channel: connectStdio({ command: process.execPath, args: [codex, "executor"], env }),
    });
    return orchestrator;
  }

  /** All retained output of a session: what is there is correct, and what is missing is reported. */
  async function readAll(orchestrator: Orchestrator, sessionId: number) {
    const gone: { from: number; to: number }[] = [];
    let kept = 0;
    for (let from = 0; ; ) {
      const part = await readPart(orchestrator, sessionId, from);
      let at = part.range.from;
      const pieces = [
        ...part.chunks.map(({ offset, data }) => ({ from: offset, bytes: Buffer.from(data, "base64") })),
        ...part.gone.map((range) => ({ ...range, bytes: undefined })),
      ].sort((a, b) => a.from - b.from);
      for (const piece of pieces) {
        expect(piece.from).toBe(at);
        if (piece.bytes === undefined) gone.push({ from: piece.from, to: piece.to });
        else expect(piece.bytes.equals(TOLD.subarray(piece.from, piece.from + piece.bytes.length))).toBe(true);
        kept += piece.bytes?.length ?? 0;
        at = piece.bytes === undefined ? piece.to : piece.from + piece.bytes.length;
      }
      expect(at).toBe(part.range.to);
      from = part.range.to;
      if (from === part.end) return { ...part, gone, kept };
    }
  }

  async function readPart(orchestrator: Orchestrator, sessionId: number, from: number, waitMs = 0) {
    const args = { session_id: sessionId, from, chunks: true, wait_ms: waitMs };
    return (await orchestrator.callTool("read_output", args)).structured as unknown as RecordedOutput;
  }

  async function startTeller(orchestrator: Orchestrator): Promise<number> {
    const answer = await orchestrator.callTool("exec_command", { cmd: TELLER, tty: true, yield_time_ms: 250 });
    const { processId } = answer.structured as { processId: number };
    await untilEnd(orchestrator, processId, READY);
    return processId;
  }

  const untilEnd = async (orchestrator: Orchestrator, sessionId: number, end: number) => {
    for (let at = 0; at < end; at = (await readPart(orchestrator, sessionId, at, 5_000)).end);
  };

  async function tell(orchestrator: Orchestrator, sessionId: number, from: number, to: number): Promise<void> {
    const chars = `${from} ${to - 1}\n`;
    await orchestrator.callTool("write_stdin", { session_id: sessionId, chars, yield_time_ms: 250 });
    await untilEnd(orchestrator, sessionId, READY + to * 8);
  }

  it.each(["from the beginning", "by what is kept there"])(
    "%s, an executor runs programs, and tells what of their output is gone and why",
    async (since) => {
      if (since === "from the beginning") disk.fill();
      const orchestrator = await attach();
      const id = await startTeller(orchestrator);
      await tell(orchestrator, id, 0, 600_000);
      const { end, gone, kept } = await readAll(orchestrator, id);
      expect(end).toBe(READY + 4_800_000);
      expect(gone.length).toBe(1);
      expect(kept + gone[0]!.to - gone[0]!.from).toBe(end);
      const chars = { chars: "\u0004", yield_time_ms: 5_000 };
      const last = await orchestrator.callTool("write_stdin", { session_id: id, ...chars });
      expect(last.structured).toMatchObject({ outcome: { kind: "exited", code: 0 } });
      const { text } = await orchestrator.callTool("read_output", { session_id: id, max_output_tokens: 1_000_000 });
      expect(text).toContain(`it could not be kept on disk: ${disk.path}: ENOSPC: no space left on device`);
      expect(readdirSync(disk.path).filter((name) => name !== "filling")).toEqual([]);
    },
  );

  it("in the middle, and then free again: a session keeps what it had, and the next one has all", async () => {
    const large = await openSmallDisk(16 * 1024 * 1024);
    closing.push(() => large.close());
    const orchestrator = await attach(large);
    const first = await startTeller(orchestrator);
    await tell(orchestrator, first, 0, 350_000);
    expect((await readAll(orchestrator, first)).gone).toEqual([]);
    large.fill();
    await tell(orchestrator, first, 350_000, 600_000);
    large.free();
    await tell(orchestrator, first, 600_000, 650_000);
    const { gone, kept, end } = await readAll(orchestrator, first);
    expect(gone.length).toBe(1);
    expect(gone[0]!.from).toBeGreaterThanOrEqual(READY + 2_800_000 - OUTPUT_TAIL_BYTES);
    expect(kept + gone[0]!.to - gone[0]!.from).toBe(end);
    const second = await startTeller(orchestrator);
    await tell(orchestrator, second, 0, 350_000);
    expect(await readAll(orchestrator, second)).toMatchObject({ gone: [], kept: READY + 2_800_000 });
  });

  it("`codex run` ends as its program did when a recording cannot go on, and says so", async () => {
    const file = join(disk.path, "run.cast");
    const { code, stdout, stderr } = await command.run([
      "run",
      "--record",
      file,
      "--",
      "sh",
      "-c",
      "seq 50000; exit 7",
    ]);
    expect(code).toBe(7);
    expect(stdout.toString()).toBe(Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join(""));
    expect(stderr).toBe(
      `codex: ${JSON.stringify(file)}: the recording is not complete: ENOSPC: no space left on device, write\n`,
    );
    const [header, ...events] = readFileSync(file, "utf8").split("\n").slice(0, -1);
    expect(JSON.parse(header!)).toMatchObject({ version: 3 });
    for (const event of events) expect(JSON.parse(event)).toHaveLength(3);
  });

  it.each([
    [0, 125],
    [7, 7],
  ])("the output of a program that exits with %d is cut, told to be lost, and no success", async (exit, wantedCode) => {
    const file = join(disk.path, "out");
    const fd = openSync(file, "w");
    const program = `seq -f %07.0f 0 19999; exit ${exit}`;
    const child = spawn(process.execPath, [codex, "run", "--", "sh", "-c", program], { stdio: ["ignore", fd, "pipe"] });
    closeSync(fd);
    let stderr = "";
    child.stderr?.on("data", (bytes: Buffer) => {
      stderr += bytes;
    });
    const [code] = (await once(child, "close")) as [number];
    expect(stderr).toBe(
      "codex: standard output cannot be written: ENOSPC: no space left on device, write; the rest of it is lost\n",
    );
    expect(code).toBe(wantedCode);
    expect(readFileSync(file, "utf8")).toBe(numbers(0, 20_000).slice(0, 64 * 1024));
  });

  it("an executor works on without its log, and tells how many lines are missing once there is room", async () => {
    const file = join(disk.path, "log");
    const { child, url } = await command.listen(["--log-file", file, "--log-level", "debug"]);
    const finished = finish(child);
    const calls = async (count: number) => {
      const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
      await orchestrator.attach({ name: "main", channel: connectWebSocket(url) });
      for (let index = 0; index < count; index += 1) {
        const answer = await orchestrator.callTool("exec_command", { cmd: `exit ${index}`, yield_time_ms: 5_000 });
        expect(answer.structured).toMatchObject({ exitCode: index });
      }
      await orchestrator.close();
    };
    await calls(1);
    disk.fill();
    await calls(8);
    disk.free();
    await calls(1);
    child.kill("SIGTERM");
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([
      0,
      `codex: ${file}: the log cannot be written: ENOSPC: no space left on device, write\n`,
    ]);
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    const dropped = lines.flatMap((line) => {
      const torn = !line.endsWith("}");
      return torn ? [] : [(JSON.parse(line) as { dropped?: number }).dropped ?? 0];
    });
    expect(lines.length - dropped.length).toBeLessThanOrEqual(1);
    const received = lines.filter((line) => line.includes('"call received"')).length;
    expect(received).toBeLessThan(10);
    expect(dropped.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(10 - received);
  });

  it("a call is not run when it must be on record and cannot be, and runs once there is room", async () => {
    const file = join(disk.path, "audit.jsonl");
    const marker = join(disk.path, "ran");
    const home = { CODEX_HOME: join(disk.path, "home") };
    const flags = ["-c", "audit.enabled=true", "-c", `audit.path=${file}`, "-a", "never", "-s", "danger-full-access"];
    const call = async (...more: string[]) => {
      const args = JSON.stringify({ cmd: `: >${marker}; exit 7` });
      const child = command.start(["tools", "call", "exec_command", args, ...flags, ...more], home);
      child.stdin.end();
      return finish(child);
    };
    disk.fill();
    const refused = await call("-c", "audit.required=true");
    expect(refused.code).toBe(1);
    expect(`${refused.stdout}${refused.stderr}`).toContain(
      `the audit log cannot be written: ${file}.lock: ENOSPC: no space left on device`,
    );
    expect(existsSync(marker)).toBe(false);
    const unrecorded = await call();
    expect(unrecorded.stdout.toString()).toContain("exited with code 7");
    expect(unrecorded.stderr).toMatch(/^codex: the audit log cannot be written: .*\.lock: ENOSPC: .*\n$/);
    disk.free();
    const recorded = await call("-c", "audit.required=true");
    expect(recorded).toMatchObject({ code: 0, stderr: "" });
    expect((await verifyAuditFiles(file)).check).toMatchObject({ kind: "intact", lost: 0 });
  });

  it("an exec-server runs programs, and answers with the file and the cause when one cannot be written", async () => {
    const args = [codex, "exec-server", "--listen", "stdio"];
    disk.fill();
    const client = await ExecServerClient.spawnLocal({
      command: process.execPath,
      args,
      env: { ...process.env, TMPDIR: disk.path },
    });
    closing.push(() => client.close());
    const backend = createRemoteBackend(client);
    const program = await backend.start({
      argv: ["sh", "-c", "exit 7"],
      cwd: "/",
      env: { PATH: process.env.PATH ?? "" },
      stdio: { kind: "pipe", stdin: "null" },
    });
    await program.closed;
    expect(program.outcome).toEqual({ kind: "exited", code: 7 });
    await expect(client.fileSystem.writeFile(join(disk.path, "file"), Buffer.alloc(1_000))).rejects.toThrow(
      `No space left on device (os error 28)`,
    );
    await backend.close();
  });
});
