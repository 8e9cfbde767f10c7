import { agent, client, methods, type TerminalHandle } from "@agentclientprotocol/sdk";
import { type AcpTerminalsOptions, acpTerminals } from "@codex/acp";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import { COMMAND_FACE_CASES, type CommandEnd, type CommandFace, checkCommandFace } from "@codex/local/testing";
import type { Orchestrator } from "@codex/orchestrator";
import { parseRulePolicy } from "@codex/policy";
import { afterEach, describe, expect, it } from "vitest";

const opened: Orchestrator[] = [];
afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
});

async function open(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, ...options });
  opened.push(orchestrator);
  return orchestrator;
}

interface Create {
  (command: string, args?: string[], more?: object): Promise<TerminalHandle>;
  /** Any other request of the agent. */
  request(method: string, params: object): Promise<unknown>;
}

/** Runs an agent of the SDK against a client of the SDK that has our terminals. */
async function withAgent(
  orchestrator: Orchestrator,
  run: (create: Create) => Promise<void>,
  options: AcpTerminalsOptions = {},
): Promise<void> {
  const editor = client({ name: "editor" });
  const terminals = acpTerminals(orchestrator, options);
  terminals.addTo(editor);
  const worker = agent({ name: "worker" })
    .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: "s1" }))
    .onRequest(methods.agent.session.prompt, async ({ client: context }) => {
      const create: Create = Object.assign(
        (command: string, args: string[] = [], more: object = {}) =>
          context.createTerminal({ sessionId: "s1", command, args, ...more }),
        { request: (method: string, params: object) => context.request(method, params) },
      );
      await run(create);
      return { stopReason: "end_turn" };
    });
  await editor.connectWith(worker, async (context) => {
    await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: { terminal: true } });
    await context.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    await context.request(methods.agent.session.prompt, { sessionId: "s1", prompt: [{ type: "text", text: "go" }] });
  });
  await terminals.dispose();
}

/** What an agent has of a command: its output and end, or the error of a request. */
const createFace = (orchestrator: Orchestrator): CommandFace => ({
  async run([command = "", ...args], { cwd, signal }) {
    let end: CommandEnd | undefined;
    await withAgent(orchestrator, async (create) => {
      try {
        const terminal = await create(command, args, cwd === undefined ? {} : { cwd });
        if (signal.aborted) await terminal.kill();
        signal.addEventListener("abort", () => void terminal.kill());
        const { exitCode = null, signal: name = null } = await terminal.waitForExit();
        const { output, truncated } = await terminal.currentOutput();
        end = { output, exitCode, signal: name, ...(truncated ? { isTruncated: true } : {}) };
      } catch (error) {
        end = { error: error instanceof Error ? error.message : String(error) };
      }
    });
    return end ?? { error: "the agent did not run" };
  },
});

describe("terminals of an ACP client", () => {
  it.each(COMMAND_FACE_CASES)("pass the face kit: $name", (faceCase) =>
    checkCommandFace(faceCase, { connect: createFace }),
  );

  it("run commands with directory, variables and an exit code", async () => {
    let shown = "";
    const onOutput = ({ bytes, terminalId }: { bytes: Buffer; terminalId: string }) => {
      shown += `${terminalId} ${bytes.toString()}`;
    };
    await withAgent(
      await open(),
      async (create) => {
        const env = [{ name: "GREETING", value: "hällo" }];
        const terminal = await create("sh", ["-c", 'pwd; echo "$GREETING"; exit 3'], { cwd: "/usr", env });
        expect(await terminal.waitForExit()).toMatchObject({ exitCode: 3, signal: null });
        const ended = { output: "/usr\nhällo\n", truncated: false, exitStatus: { exitCode: 3, signal: null } };
        expect(await terminal.currentOutput()).toMatchObject(ended);
      },
      { onOutput },
    );
    expect(shown).toMatch(/^terminal-1 \/usr\n/);
  });

  it("keep the end of the output, from a whole character on", async () => {
    await withAgent(await open(), async (create) => {
      const terminal = await create("sh", ["-c", "head -c 300000 /dev/zero; printf 'äöüß'"], { outputByteLimit: 5 });
      await terminal.waitForExit();
      expect(await terminal.currentOutput()).toMatchObject({ output: "üß", truncated: true });
    });
  });

  it("kill, and stay until they are released", async () => {
    await withAgent(await open(), async (create) => {
      const terminal = await create("sh", ["-c", "echo begun; exec sleep 1000"]);
      expect((await terminal.currentOutput()).exitStatus ?? null).toBe(null);
      await terminal.kill();
      expect(await terminal.waitForExit()).toMatchObject({ exitCode: null, signal: "SIGTERM" });
      expect((await terminal.currentOutput()).output).toBe("begun\n");
      await terminal.release();
      const gone = { sessionId: "s1", terminalId: terminal.id };
      await expect(create.request("terminal/output", gone)).rejects.toMatchObject({ code: -32002 });
      await expect(create.request("terminal/release", gone)).rejects.toMatchObject({ code: -32002 });
    });
  });

  it("are known to their session alone, and end with it", async () => {
    const orchestrator = await open();
    await withAgent(orchestrator, async (create) => {
      const { id: terminalId } = await create("sleep", ["1000"]);
      const other = create.request("terminal/kill", { sessionId: "s2", terminalId });
      await expect(other).rejects.toMatchObject({ code: -32002 });
    });
    const { text } = await orchestrator.callTool("list_sessions", {});
    expect(text).not.toMatch(/sleep.*running/);
  });

  it("fail to be created where the command does not start, and where it may not", async () => {
    const rules = parseRulePolicy([{ file: "r", text: 'prefix_rule(pattern=["touch"], decision="forbidden")' }]);
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access", rules } as const;
    await withAgent(await open({ policy }), async (create) => {
      await expect(create("/no/such/program")).rejects.toMatchObject({
        message: expect.stringContaining("/no/such/program"),
      });
      await expect(create("true", [], { cwd: "/no/such/directory" })).rejects.toThrow("directory");
      await expect(create("touch", ["x"])).rejects.toMatchObject({ message: expect.stringContaining("forbidden") });
    });
    const asking = await open({ policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" } });
    await withAgent(asking, async (create) => {
      await expect(create("touch", ["x"])).rejects.toThrow("no approver");
    });
  });

  it("make up no exit code where the executor is lost", async () => {
    const orchestrator = await open();
    await withAgent(orchestrator, async (create) => {
      const terminal = await create("sleep", ["1000"]);
      const waiting = expect(terminal.waitForExit()).rejects.toMatchObject({ data: { code: "lost" } });
      await orchestrator.detach("local");
      await waiting;
    });
  });

  it("are at most 64", async () => {
    const terminals = acpTerminals(await open());
    const create = () => terminals.create({ sessionId: "s", command: "true" });
    for (let index = 0; index < 64; index += 1) await create();
    await expect(create()).rejects.toThrow("limit 64 terminals");
    await terminals.dispose();
    expect(await create()).toEqual({ terminalId: "terminal-65" });
    await terminals.dispose();
  });
});
