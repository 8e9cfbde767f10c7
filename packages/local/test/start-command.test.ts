import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEvent, AuditLog } from "@codex/audit";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { ApprovalDecision, ApprovalRequest, LiveOutput, Orchestrator, StartedCommand } from "@codex/orchestrator";
import { parseRulePolicy } from "@codex/policy";
import { afterEach, describe, expect, it } from "vitest";

const opened: Orchestrator[] = [];
const directories: string[] = [];

afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "start command "));
  directories.push(directory);
  return directory;
}

async function open(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false, shell: "sh" }, ...options });
  opened.push(orchestrator);
  return orchestrator;
}

/** One that asks about everything, and what it asked. */
async function openAsking(answer: ApprovalDecision | undefined, more: LocalOrchestratorOptions = {}) {
  const asked: ApprovalRequest[] = [];
  const approver = {
    requestApproval: async (request: ApprovalRequest) => {
      asked.push(request);
      return answer ?? "decline";
    },
  };
  const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" } as const;
  return { asked, orchestrator: await open({ policy, ...(answer === undefined ? {} : { approver }), ...more }) };
}

async function read(output: AsyncIterable<LiveOutput>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const { bytes } of output) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

/** Both streams and the end. */
const finish = async (command: StartedCommand) => {
  const [stdout, stderr] = await Promise.all([read(command.stdout), read(command.stderr)]);
  return { stdout, stderr, ended: await command.ended };
};

describe("a judged program", () => {
  it("has stdout and stderr apart, and an exit code", async () => {
    const command = (await open()).startCommand({ cmd: "echo one; echo two >&2; exit 3" });
    expect(await finish(command)).toMatchObject({
      stdout: "one\n",
      stderr: "two\n",
      ended: { kind: "ended", outcome: { kind: "exited", code: 3 }, exitCode: 3 },
    });
    expect(await command.started).toMatchObject({ kind: "started", environment: "local" });
  });

  it("takes input to its end, and directory and variables of its own", async () => {
    const cwd = temporary();
    const orchestrator = await open();
    const command = orchestrator.startCommand({
      argv: ["sh", "-c", 'read line; echo "$line $GREETING"; pwd; cat'],
      cwd,
      env: { GREETING: "hello" },
      stdin: "open",
    });
    expect(await command.started).toMatchObject({ kind: "started", sessionId: expect.any(Number) });
    await command.write(Buffer.from("oh,\nrest"));
    await command.closeStdin();
    const { stdout } = await finish(command);
    expect(stdout).toBe(`oh, hello\n${cwd}\nrest`);
  });

  it("keeps what one stream holds while only the other is read", async () => {
    const command = (await open()).startCommand({ cmd: "echo err >&2; head -c 3000000 /dev/zero; echo end >&2" });
    let bytes = 0;
    for await (const piece of command.stdout) bytes += piece.bytes.length;
    expect(bytes).toBe(3_000_000);
    expect(await read(command.stderr)).toBe("err\nend\n");
  });

  it("says why a program cannot be started, and is not running then", async () => {
    const orchestrator = await open();
    const command = orchestrator.startCommand({ argv: ["/no/such/program"] });
    const start = await command.started;
    expect(start).toMatchObject({ kind: "failed", reason: expect.stringContaining("/no/such/program") });
    expect((await command.ended).kind).not.toBe("lost");
    const missing = orchestrator.startCommand({ argv: ["true"], cwd: "/no/such/directory" });
    expect(await missing.started).toMatchObject({ kind: "failed", reason: expect.stringContaining("directory") });
  });

  it("ends with its signal", async () => {
    const abort = new AbortController();
    const orchestrator = await open();
    const command = orchestrator.startCommand({ argv: ["sleep", "1000"] }, { signal: abort.signal });
    await command.started;
    abort.abort();
    expect(await command.ended).toMatchObject({ outcome: { kind: "signaled", signal: "SIGTERM", by: "terminate" } });
    const late = orchestrator.startCommand({ argv: ["true"] }, { signal: abort.signal });
    expect(await late.started).toMatchObject({ kind: "refused", result: { status: "interrupted" } });
  });

  it("is a session of its client, with a terminal where it asks for one", async () => {
    const orchestrator = await open();
    const size = { rows: 10, cols: 33 };
    const command = orchestrator.startCommand({ cmd: "stty size; cat", tty: true, size }, { client: "one" });
    const start = await command.started;
    if (start.kind !== "started") throw new Error(JSON.stringify(start));
    for await (const { bytes, stream } of command.stdout) {
      expect([bytes.toString().trim(), stream]).toEqual(["10 33", "pty"]);
      break;
    }
    const sessionsOf = async (client: string) => (await orchestrator.callTool("list_sessions", {}, { client })).text;
    expect(await sessionsOf("one")).toContain(String(start.sessionId));
    expect(await sessionsOf("two")).not.toContain(String(start.sessionId));
    await command.resize({ rows: 20, cols: 40 });
    await command.signal("kill");
    expect(await command.ended).toMatchObject({ outcome: { kind: "signaled", signal: "SIGKILL" } });
  });

  it("is started as soon as it has output, whether or not that is read", async () => {
    const command = (await open()).startCommand({ cmd: "head -c 5000000 /dev/zero; exit 4" });
    expect(await command.started).toMatchObject({ kind: "started", sessionId: expect.any(Number) });
    let bytes = 0;
    for await (const piece of command.output) bytes += piece.bytes.length;
    expect([bytes, await command.ended]).toMatchObject([5_000_000, { exitCode: 4 }]);
  });

  it.each([
    [{}, "either `argv` or `cmd`"],
    [{ cmd: "true", argv: ["true"] }, "either `argv` or `cmd`"],
    [{ argv: [] }, "a program and its arguments"],
    [{ argv: ["true"], env: { "-u": "x" } }, '"-u"'],
    [{ argv: ["a\0b"] }, "NUL"],
    [{ argv: ["true"], environment: "elsewhere" }, "elsewhere"],
  ])("is refused with the field: %j", async (request, problem) => {
    const start = await (await open()).startCommand(request).started;
    expect(start).toMatchObject({
      kind: "refused",
      result: { status: "error", text: expect.stringContaining(problem) },
    });
  });
});

describe("the policy of a program", () => {
  it("forbids what a rule forbids", async () => {
    const rules = parseRulePolicy([{ file: "r", text: 'prefix_rule(pattern=["touch"], decision="forbidden")' }]);
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access", rules } as const;
    const command = (await open({ policy })).startCommand({ argv: ["touch", "x"] });
    expect(await command.started).toMatchObject({ kind: "refused", result: { status: "forbidden" } });
    expect(await command.ended).toMatchObject({ kind: "refused", code: "forbidden" });
    await expect(command.write(Buffer.from("x"))).rejects.toMatchObject({ code: "not_running" });
  });

  it("runs nothing that was not approved, and shows the variables", async () => {
    const cwd = temporary();
    const { orchestrator, asked } = await openAsking("decline");
    const command = orchestrator.startCommand({ argv: ["touch", "marker"], cwd, env: { PATH: "/evil" } });
    expect(await command.started).toMatchObject({ kind: "refused", result: { status: "denied" } });
    expect(asked.map((request) => request.command)).toEqual([["env", "PATH=/evil", "touch", "marker"]]);
    const nobody = await openAsking(undefined);
    const alone = nobody.orchestrator.startCommand({ argv: ["touch", "marker"], cwd });
    expect(await alone.started).toMatchObject({
      kind: "refused",
      result: { text: expect.stringMatching(/no approver/) },
    });
  });

  it("asks the approver of the call, once", async () => {
    const { orchestrator, asked } = await openAsking("decline");
    let own = 0;
    const approver = {
      requestApproval: async () => {
        own += 1;
        return "accept" as const;
      },
    };
    const command = orchestrator.startCommand({ argv: ["printf", "hi"] }, { approver });
    expect(await read(command.output)).toBe("hi");
    expect([own, asked.length]).toEqual([1, 0]);
  });

  it("takes the decision on what was judged before, and on nothing else", async () => {
    const { asked, orchestrator } = await openAsking("decline");
    const judged = await orchestrator.judge("exec_command", { cmd: "exec echo granted", workdir: "/" });
    if (judged.kind !== "ask") throw new Error(`it is ${judged.kind}`);
    const grant = { digest: judged.digest, decision: "accept" } as const;
    const command = orchestrator.startCommand({ cmd: "exec echo granted", cwd: "/" }, { grant });
    expect(await finish(command)).toMatchObject({ stdout: "granted\n", ended: { exitCode: 0 } });
    for (const other of [
      { cmd: "exec echo other", cwd: "/" },
      { cmd: "exec echo granted", cwd: "/usr" },
      { argv: ["touch", "x"] },
    ]) {
      const start = await orchestrator.startCommand(other, { grant }).started;
      expect(start).toMatchObject({ kind: "refused", result: { structured: { code: "changed" } } });
    }
    expect(asked).toEqual([]);
  });

  it("judges lines that are typed into a shell", async () => {
    const cwd = temporary();
    const rules = parseRulePolicy([{ file: "r", text: 'prefix_rule(pattern=["touch"], decision="forbidden")' }]);
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access", rules } as const;
    const shell = (await open({ policy })).startCommand({ argv: ["sh"], env: { A: "b" }, cwd, stdin: "open" });
    await shell.write(Buffer.from("tou"));
    await expect(shell.write(Buffer.from("ch marker\n"))).rejects.toMatchObject({ code: "refused" });
    await shell.write(Buffer.from("\ntouch"));
    await expect(shell.write(Buffer.from(" marker;"))).resolves.toBeUndefined();
    await expect(shell.closeStdin()).rejects.toMatchObject({ code: "refused" });
    await shell.signal("kill");
    await shell.ended;
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("holds a program in the sandbox that a command would get", async () => {
    const cwd = temporary();
    const policy = { approvalPolicy: "never", sandbox: "read-only" } as const;
    const command = (await open({ policy })).startCommand({ argv: ["touch", "marker"], cwd });
    const start = await command.started;
    const ended = await command.ended;
    // Without a sandbox on this host it is refused instead.
    if (start.kind === "started") expect(ended).toMatchObject({ kind: "ended", exitCode: 1 });
    else expect(start).toMatchObject({ kind: "refused", result: { structured: { code: expect.any(String) } } });
  });

  it("is in the audit log as a command is", async () => {
    const events: AuditEvent[] = [];
    const log: AuditLog = {
      record: async (event) => void events.push(event),
      flush: async () => {},
    } as AuditLog; // what an orchestrator needs of one
    const { orchestrator } = await openAsking("accept", { audit: { log } });
    const trailOf = async (run: () => Promise<unknown>) => {
      events.length = 0;
      await run();
      return events.map((event) => ({ ...event, call: "", approval: "" }));
    };
    const called = await trailOf(() => orchestrator.callTool("exec_command", { cmd: "printf hi" }));
    const started = await trailOf(() => orchestrator.startCommand({ cmd: "printf hi" }).ended);
    expect(called.map(({ type }) => type)).toEqual(["approval", "call", "result"]);
    expect(started).toEqual(called);
  });
});
