import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { LiveOutput, Orchestrator } from "@codex/orchestrator";
import { afterEach, describe, expect, it } from "vitest";

const opened: Orchestrator[] = [];

afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
});

/** Commands are those of the tests: no sandbox, no questions. */
async function open(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false, shell: "sh" }, ...options });
  opened.push(orchestrator);
  return orchestrator;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** 8 MB: more than every buffer on the way holds. */
const LARGE = "i=0; while [ $i -lt 8 ]; do head -c 1000000 /dev/zero | tr '\\0' a; i=$((i+1)); done";
const LARGE_BYTES = 8_000_000;

/** Checks that pieces follow each other, and counts their bytes. */
function createCounter() {
  let bytes = 0;
  return {
    add(piece: LiveOutput) {
      expect([piece.offset, piece.dropped]).toEqual([bytes, undefined]);
      bytes += piece.bytes.length;
    },
    get bytes() {
      return bytes;
    },
  };
}

describe("a local orchestrator", () => {
  it.each([
    [
      { name: "bad name" },
      "tool `bad name` is left out: its name has characters other than letters, digits and _ - . / :",
    ],
    [{ name: "n".repeat(129) }, "its name has 129 bytes (limit 128 bytes)"],
    [{ inputSchema: { type: "object", note: "x".repeat(65_536) } }, "bytes (limit 65536 bytes)"],
    [{ description: "x".repeat(16_385) }, "description of tool `good` has 16385 bytes (limit 16384 bytes)"],
  ])("names a tool that models could not be offered, and the limit", async (spec, problem) => {
    const tool = {
      spec: { name: "good", description: "", inputSchema: { type: "object" }, ...spec },
      call: async () => ({ status: "success" as const, content: [] }),
    };
    const opening = open({ tools: [tool] });
    await expect(opening).rejects.toMatchObject({ code: "bad_option", message: expect.stringContaining(problem) });
  });

  it("runs commands on this host, and names the executor", async () => {
    const orchestrator = await open({ name: "here" });
    expect(orchestrator.executors).toMatchObject([{ name: "here", host: { os: process.platform } }]);
    expect(orchestrator.listTools().map(({ name }) => name)).toContain("exec_command");
    const result = await orchestrator.callTool("exec_command", { cmd: "echo one; exit 3" });
    expect(result).toMatchObject({ status: "success", structured: { exitCode: 3 } });
  });

  it("offers tools of its user", async () => {
    const spec = { name: "answer", description: "Answers.", inputSchema: { type: "object" } };
    const call = async () => ({ status: "success" as const, content: [{ type: "input_text" as const, text: "42" }] });
    const orchestrator = await open({ tools: [{ spec, call }] });
    expect(await orchestrator.callTool("answer", {})).toMatchObject({ status: "success", text: "42" });
  });

  it("lets nothing write unless its user says so", async () => {
    const directory = mkdtempSync(join(tmpdir(), "local-"));
    const orchestrator = await createLocalOrchestrator({ defaults: { login: false, shell: "sh", cwd: directory } });
    opened.push(orchestrator);
    const result = await orchestrator.callTool("exec_command", { cmd: "echo x > marker && cat marker" });
    expect(result).not.toMatchObject({ structured: { exitCode: 0 } });
    rmSync(directory, { recursive: true });
  });

  it("ends what was started when it is closed", async () => {
    const orchestrator = await createLocalOrchestrator({
      policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    });
    const call = { cmd: "echo $$; exec sleep 1000", shell: "sh", login: false, until: "output" };
    const started = await orchestrator.callTool("exec_command", call);
    const pid = Number(/^(\d+)$/m.exec(started.text.slice(started.text.indexOf("Output:")))?.[1]);
    expect(isRunning(pid)).toBe(true);
    await Promise.all([orchestrator.close(), orchestrator[Symbol.asyncDispose]()]);
    expect(isRunning(pid)).toBe(false);
    expect(await orchestrator.callTool("exec_command", call)).toMatchObject({ structured: { code: "closed" } });
  });

  it("leaves nothing behind when it cannot be made", async () => {
    await expect(createLocalOrchestrator({ name: "not a name" })).rejects.toMatchObject({ code: "bad_option" });
    await expect(createLocalOrchestrator({ defaults: { login: true, allowLogin: false } })).rejects.toMatchObject({
      code: "bad_option",
    });
    const tool = { spec: { name: "twice", description: "", inputSchema: {} }, call: () => Promise.reject() };
    await expect(createLocalOrchestrator({ tools: [tool, tool] })).rejects.toThrow("twice");
  });
});

describe("live output as an iterable", () => {
  it("is all of it, however slowly it is read", async () => {
    const orchestrator = await open();
    const call = orchestrator.startCall("exec_command", { cmd: LARGE, until: "exit" });
    const counter = createCounter();
    for await (const piece of call.output) {
      counter.add(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await call.result).toMatchObject({ structured: { exitCode: 0, range: { to: LARGE_BYTES } } });
    expect(counter.bytes).toBe(LARGE_BYTES);
  });

  it("is needed by no result, and says what was not kept", async () => {
    const orchestrator = await open();
    const call = orchestrator.startCall("exec_command", { cmd: LARGE, until: "exit" });
    expect(await call.result).toMatchObject({ structured: { exitCode: 0, range: { to: LARGE_BYTES } } });
    let next = 0;
    for await (const { offset, bytes, dropped } of call.output) {
      expect(dropped?.from ?? offset).toBe(next);
      next = offset + bytes.length;
    }
    expect(next).toBe(LARGE_BYTES);
  });

  it("can be left without holding up the call", async () => {
    const orchestrator = await open();
    const call = orchestrator.startCall("exec_command", { cmd: LARGE, until: "exit" });
    for await (const { offset } of call.output) {
      expect(offset).toBe(0);
      break;
    }
    expect(await call.result).toMatchObject({ structured: { exitCode: 0, range: { to: LARGE_BYTES } } });
  });

  it("goes to a callback as well", async () => {
    const orchestrator = await open();
    const [called, read] = [createCounter(), createCounter()];
    const call = orchestrator.startCall("exec_command", { cmd: LARGE, until: "exit" }, { onOutput: called.add });
    for await (const piece of call.output) read.add(piece);
    await call.result;
    expect([called.bytes, read.bytes]).toEqual([LARGE_BYTES, LARGE_BYTES]);
  });

  it("ends at once for a call that is refused", async () => {
    const orchestrator = await open();
    const call = orchestrator.startCall("no_such_tool", {});
    for await (const _ of call.output) expect.unreachable();
    expect(await call.result).toMatchObject({ status: "error", structured: { code: "unknown_tool" } });
  });

  it("of a program is all of it", async () => {
    const orchestrator = await open();
    const program = orchestrator.runCommand({ argv: ["sh", "-c", LARGE], env: {}, tty: false });
    const counter = createCounter();
    for await (const piece of program.output) counter.add(piece);
    expect(await program.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    expect(counter.bytes).toBe(LARGE_BYTES);
  });
});

it("live output of a program goes to a callback and to a loop, and to a callback alone", async () => {
  const orchestrator = await open();
  const request = { argv: ["sh", "-c", LARGE], env: {}, tty: false };
  const [called, read, alone] = [createCounter(), createCounter(), createCounter()];
  const both = orchestrator.runCommand(request, { onOutput: called.add });
  for await (const piece of both.output) read.add(piece);
  await both.ended;
  const program = orchestrator.runCommand(request, { onOutput: alone.add });
  await program.ended;
  for await (const _ of program.output) expect.unreachable();
  expect([called.bytes, read.bytes, alone.bytes]).toEqual([LARGE_BYTES, LARGE_BYTES, LARGE_BYTES]);
});

describe("a program that is aborted", () => {
  const request = (script: string) => ({ argv: ["sh", "-c", script], env: {}, tty: false });

  it("is ended, and tells how", async () => {
    const orchestrator = await open();
    const abort = new AbortController();
    const program = orchestrator.runCommand(request("echo ready; exec sleep 1000"), {
      signal: abort.signal,
      onOutput: () => abort.abort(),
    });
    expect(await program.ended).toMatchObject({ kind: "ended", outcome: { kind: "signaled", signal: "SIGTERM" } });
  });

  it("is killed where it ignores that, also while nobody takes its output", async () => {
    const orchestrator = await open();
    const abort = new AbortController();
    const program = orchestrator.runCommand(request(`trap "" TERM; ${LARGE}; while :; do sleep 0.1; done`), {
      signal: abort.signal,
    });
    const reader = program.output[Symbol.asyncIterator]();
    await reader.next();
    abort.abort();
    expect(await program.ended).toMatchObject({ kind: "ended", outcome: { kind: "signaled", signal: "SIGKILL" } });
  });

  it("is not started when it is aborted already", async () => {
    const orchestrator = await open();
    const program = orchestrator.runCommand(request("echo started"), { signal: AbortSignal.abort() });
    for await (const _ of program.output) expect.unreachable();
    expect(await program.ended).toMatchObject({ kind: "refused", code: "aborted" });
  });
});
