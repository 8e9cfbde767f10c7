import {
  DEFAULT_MAX_OUTPUT_TOKENS,
  DEFAULT_ORCHESTRATOR_LIMITS,
  DEFAULT_ORCHESTRATOR_TIMINGS,
  DEFAULT_WINDOW_BOUNDS,
  type OrchestratorLimits,
} from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { SessionTable } from "../src/executors/sessions.js";
import { ScriptedEnvironment } from "./environments/support.js";
import { scriptedTools } from "./programs/scripted-executor.mjs";
import { RawPeer, scriptedChannel } from "./support/executors.js";
import { attached, type StageOptions, stage, withDefaults } from "./support/orchestrators.js";

const limited = (limits: Partial<OrchestratorLimits>): StageOptions => withDefaults({ limits });

describe("limits", () => {
  it("are these", () => {
    expect(DEFAULT_ORCHESTRATOR_LIMITS).toEqual({
      executors: 64,
      environments: 1_024,
      inFlightCalls: 256,
      displayCalls: 32,
      toolsPerExecutor: 256,
      toolNameBytes: 128,
      toolDescriptionBytes: 16_384,
      toolSchemaBytes: 65_536,
      argumentBytes: 4_194_304,
      resultTextBytes: 1_048_576,
      rememberedApprovals: 1_000,
      keyedCalls: 4_096,
      keyedResultBytes: 16_777_216,
      rememberedSessions: 1_024,
      queuedOutputBytes: 8_388_608,
      queuedOutputBytesInAll: 67_108_864,
      settledRequests: 1_024,
      problemsKept: 100,
      problemBytes: 500,
      problemsUntilClosed: 1_000,
    });
    expect(DEFAULT_ORCHESTRATOR_TIMINGS).toEqual({
      connectMs: 30_000,
      initializeMs: 10_000,
      listToolsMs: 10_000,
      answerMarginMs: 30_000,
      toolAnswerMs: 600_000,
      cancelGraceMs: 5_000,
      approvalMs: 0,
      shutdownMs: 5_000,
      reconnectMs: 30_000,
      reconnectBaseMs: 100,
      reconnectMaxMs: 5_000,
      livenessMs: 10_000,
    });
    expect(DEFAULT_WINDOW_BOUNDS).toEqual({
      execMinMs: 250,
      execMaxMs: 30_000,
      execDefaultMs: 10_000,
      writeMinMs: 250,
      writeMaxMs: 30_000,
      writeDefaultMs: 250,
      pollMinMs: 5_000,
      pollMaxMs: 300_000,
    });
    expect(DEFAULT_MAX_OUTPUT_TOKENS).toBe(10_000);
  });

  it("hold the executors", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel, limited({ executors: 1 }));
    const attaching = orchestrator.attach({ name: "b", channel: scriptedChannel().channel });
    await expect(attaching).rejects.toMatchObject({
      code: "too_many_executors",
      message: expect.stringMatching(/limit 1 executors/),
    });
  });

  it("hold the environments, which are no executors before they are used", async () => {
    const executor = scriptedChannel().channel;
    const { orchestrator } = await attached(executor, limited({ executors: 2, environments: 3 }));
    for (const id of ["b", "c", "d"]) orchestrator.addEnvironment(new ScriptedEnvironment(id));
    expect(orchestrator.listEnvironments()).toHaveLength(4);
    expect(() => orchestrator.addEnvironment(new ScriptedEnvironment("e"))).toThrow(
      expect.objectContaining({
        code: "too_many_environments",
        message: "there are 3 environments (limit 3 environments)",
      }),
    );
    expect(await orchestrator.detach("d")).toBe(true);
    orchestrator.addEnvironment(new ScriptedEnvironment("e"));
    const call = (environment_id: string) => orchestrator.callTool("exec_command", { cmd: "say hi", environment_id });
    expect((await call("b")).status).toBe("success");
    const text = expect.stringMatching(
      /`c` cannot be used: 2 executors are attached \(limit 2 executors\)\. Nothing was run/,
    );
    expect(await call("c")).toMatchObject({ status: "error", text });
    expect(await orchestrator.detach("b")).toBe(true);
    expect((await call("c")).status).toBe("success");
  });

  it("hold the calls under way, and let go of them", async () => {
    const { orchestrator, clock } = await attached(scriptedChannel().channel, limited({ inFlightCalls: 2 }));
    const hanging = [1, 2].map(() => orchestrator.callTool("exec_command", { cmd: "hang" }));
    const third = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(third).toMatchObject({ status: "error", text: expect.stringMatching(/limit 2 calls/) });
    // Each is sent, and waited for, once its command was analyzed.
    const ended = Promise.all(hanging);
    while ((await Promise.race([ended, clock.timer(40_000)])) === undefined) clock.advance(40_000);
    expect((await orchestrator.callTool("exec_command", { cmd: "say hi" })).status).toBe("success");
  });

  it("hold the arguments of a model", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel, limited({ argumentBytes: 10 }));
    const result = await orchestrator.callTool("exec_command", '{"cmd":"too long"}');
    expect(result.text).toMatch(/have 18 bytes \(limit 10 bytes\)/);
  });

  it("hold what an executor advertises", async () => {
    const tools = [
      { name: "long_description", description: "é".repeat(30), inputSchema: {} },
      { name: "long_schema", description: "", inputSchema: { title: "x".repeat(60) } },
      { name: "n".repeat(21), description: "", inputSchema: {} },
      { name: "bad name", description: "", inputSchema: {} },
      { name: "no_object", description: "", inputSchema: [] },
      { name: "twice", description: "1", inputSchema: {} },
      { name: "twice", description: "2", inputSchema: {} },
      { name: "contract", description: "", inputSchema: {}, contract: "something.else" },
      { name: "beyond", description: "", inputSchema: {} },
    ];
    const limits = { toolDescriptionBytes: 51, toolSchemaBytes: 60, toolNameBytes: 20, toolsPerExecutor: 8 };
    const peer = new RawPeer();
    const [{ orchestrator, problems }] = await Promise.all([
      attached(peer.channel, limited(limits)),
      peer.introduce(tools),
    ]);
    const described = orchestrator.listTools().map(({ name, description }) => [name, description]);
    expect(described).toEqual([
      ["long_description", "é".repeat(25)],
      ["twice", "1"],
    ]);
    expect(problems.map((problem) => problem.detail)).toEqual([
      expect.stringMatching(/`long_description` has 60 bytes \(limit 51 bytes\); cut/),
      expect.stringMatching(/`long_schema` is left out: its inputSchema has \d+ bytes \(limit 60 bytes\)/),
      expect.stringMatching(/its name has 21 bytes \(limit 20 bytes\)/),
      expect.stringMatching(/`bad name` is left out: its name has characters/),
      expect.stringMatching(/`no_object` is left out: its inputSchema is no object/),
      expect.stringMatching(/`twice` is left out: advertised twice/),
      expect.stringMatching(/`contract` is left out: its contract `something.else` is unknown/),
      "9 tools (limit 8 tools); the rest is left out",
    ]);
  });

  it("hold the remembered approvals: the oldest is asked again", async () => {
    const asked: string[] = [];
    const { orchestrator } = await attached(scriptedChannel().channel, {
      policy: "untrusted",
      ...limited({ rememberedApprovals: 2 }),
      approver: {
        requestApproval: async ({ command }) => {
          asked.push(command[2] ?? "");
          return "accept_for_session";
        },
      },
    });
    for (const cmd of ["say a", "say b", "say b", "say c", "say c", "say a"])
      await orchestrator.callTool("exec_command", { cmd });
    expect(asked).toEqual(["say a", "say b", "say c", "say a"]);
  });

  it("hold the remembered sessions: ended ones go first, then lost ones, and live ones never", () => {
    const table = new SessionTable(2);
    const owner = { name: "a" };
    const [first, second] = [table.adopt(owner, 1), table.adopt(owner, 2)];
    second.state = { kind: "ended", outcome: undefined };
    table.adopt(owner, 3);
    expect([table.get(1), table.get(2)]).toEqual([first, undefined]);
    expect(table.findExcess()).toMatch(/^2 sessions are running \(limit 2 sessions\)/);
    table.adopt(owner, 4);
    expect(table.get(1)).toBe(first);
    first.state = { kind: "lost", reason: "gone" };
    expect(table.findExcess()).toBeUndefined();
    table.adopt(owner, 5);
    expect(table.get(1)).toBeUndefined();
    expect(table.find(owner, 1)).toBeUndefined();
    expect([3, 4, 5].map((id) => table.get(id)?.state.kind)).toEqual(["live", "live", "live"]);
  });

  it("hold the text of a problem", async () => {
    const peer = new RawPeer();
    const [{ problems, orchestrator }] = await Promise.all([
      attached(peer.channel, limited({ problemBytes: 30 })),
      peer.introduce(scriptedTools),
    ]);
    await peer.say({ type: "x".repeat(1_000_000) });
    const call = orchestrator.callTool("exec_command", { cmd: "x" });
    await peer.expect("call_tool");
    await peer.close();
    await call;
    expect(problems).toHaveLength(1);
    expect(Buffer.byteLength(problems[0]?.detail ?? "")).toBe(30);
  });

  it("must be positive integers", () => {
    expect(() => stage(limited({ inFlightCalls: 0 }))).toThrow(
      /limits.inFlightCalls is 0; expected an integer of at least 1/,
    );
  });
});
