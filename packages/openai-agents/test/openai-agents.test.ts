import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import { checkFace, FACE_CASES, type FaceAnswer, type FaceCheck, FILE_FACE_CASES } from "@codex/local/testing";
import { codexSession, codexTools } from "@codex/openai-agents";
import type { Orchestrator } from "@codex/orchestrator";
import { Agent, Runner, RunState } from "@openai/agents";
import { filesystem, SandboxAgent, shell } from "@openai/agents/sandbox";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openAtWebSocket } from "../../local/test/at-websocket.js";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "openai agents "));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const opened: Orchestrator[] = [];
afterEach(async () => {
  for (const orchestrator of opened.splice(0)) await orchestrator.close();
});

async function open(options: LocalOrchestratorOptions = {}): Promise<Orchestrator> {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false, shell: "sh" }, ...options });
  opened.push(orchestrator);
  return orchestrator;
}
const openAsking = () => open({ policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" } });

interface Call {
  id?: string;
  tool: string;
  args: object;
}

/** A model that makes these calls, one a step, and then says that it is done. */
function script(calls: readonly Call[]) {
  const steps = calls.map(({ id, tool, args }, index) => [
    functionCall(tool, JSON.stringify(args), { callId: id ?? `call-${index}` }),
  ]);
  return new ScriptedModel([...steps, [assistantMessage("done")]]);
}

/** The outputs of tools that a model has read, in order. */
function outputsOf(model: ScriptedModel): string[] {
  const input = model.lastCall?.request.input;
  if (!Array.isArray(input)) return [];
  return input.flatMap((item) => {
    if (item.type !== "function_call_result") return [];
    const { output } = item;
    return [typeof output === "object" && "text" in output ? output.text : String(output)];
  });
}

/** The text of the only call, and its pictures. */
function readAnswer(model: ScriptedModel): FaceAnswer {
  const input = model.lastCall?.request.input;
  const parts = Array.isArray(input)
    ? input.flatMap((item) => (item.type === "function_call_result" && Array.isArray(item.output) ? item.output : []))
    : [];
  if (parts.length === 0) return { text: outputsOf(model)[0] ?? "" };
  const text = parts.flatMap((part) => (part.type === "input_text" ? [part.text] : [])).join("");
  const images = parts.flatMap((part) => (part.type === "input_image" ? [toImage(String(part.image))] : []));
  return { text, images };
}

const toImage = (url: string) => {
  const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
  return { mediaType, data };
};

const runner = () => new Runner({ tracingDisabled: true });
const exec = (cmd: string, more: object = {}) => ({ tool: "exec_command", args: { cmd, ...more } });
const agentOf = (orchestrator: Orchestrator, model: ScriptedModel) => {
  const tools = codexTools(orchestrator);
  return { tools, agent: new Agent({ name: "builder", instructions: "Build.", model, tools }) };
};
const sessionsOf = async (orchestrator: Orchestrator) => (await orchestrator.callTool("list_sessions", {})).text;

const check: FaceCheck = {
  open,
  connect: (orchestrator) => ({
    async call(tool, args) {
      const model = script([{ tool, args }]);
      const tools = codexTools(orchestrator, { approvals: "approver" });
      await runner().run(new Agent({ name: "a", model, tools }), "go");
      return readAnswer(model);
    },
  }),
};

describe("tools", () => {
  it.each([...FACE_CASES, ...FILE_FACE_CASES])("pass the face kit: $name", (faceCase) => checkFace(faceCase, check));

  it.each(FILE_FACE_CASES)("pass it at an executor behind a websocket: $name", (faceCase) =>
    checkFace(faceCase, { ...check, open: openAtWebSocket }),
  );

  it("give output as it arrives, and keep the session of an aborted run until `dispose`", async () => {
    const orchestrator = await open();
    const model = script([exec("echo begun; sleep 1000")]);
    const abort = new AbortController();
    let text = "";
    const tools = codexTools(orchestrator, {
      onOutput({ bytes, callId }) {
        text += `${callId}: ${bytes.toString()}`;
        abort.abort();
      },
    });
    const agent = new Agent({ name: "a", model, tools });
    await runner()
      .run(agent, "go", { signal: abort.signal })
      .catch((error: unknown) => expect(String(error)).toMatch(/abort/i));
    expect(text).toBe("call-0: begun\n");
    expect(await sessionsOf(orchestrator)).toContain("sleep 1000");
    await tools.dispose();
    expect(await sessionsOf(orchestrator)).not.toMatch(/sleep 1000.*running/);
    expect(Object.keys(tools).length).toBe(orchestrator.listTools().length);
  });

  it("give results as data, typed by the name of the tool", async () => {
    const orchestrator = await open();
    const model = script([exec("exit 3"), { tool: "list_sessions", args: {} }, exec("", { workdir: 5 })]);
    const seen: unknown[] = [];
    const tools = codexTools(orchestrator, {
      onResult({ callId, tool, result }) {
        if (result.isError) seen.push([callId, result.structured]);
        else if (tool === "exec_command") seen.push([callId, result.structured?.exitCode]);
        else if (tool === "list_sessions") seen.push([callId, result.structured?.sessions.length]);
      },
    });
    await runner().run(new Agent({ name: "a", model, tools }), "go");
    expect(seen).toEqual([
      ["call-0", 3],
      ["call-1", 0],
      ["call-2", expect.objectContaining({ code: "invalid_arguments", field: "workdir" })],
    ]);
  });

  it("stop for an approval, and run what was approved once, also through a string", async () => {
    const orchestrator = await openAsking();
    const marker = join(directory, "approved");
    const call = exec(`echo x >> '${marker}'`);
    const first = agentOf(orchestrator, script([call]));
    const stopped = await runner().run(first.agent, "go");
    expect([stopped.interruptions.length, existsSync(marker)]).toEqual([1, false]);
    const stored = stopped.state.toString();
    for (const { agent } of [first, agentOf(orchestrator, script([call]))]) {
      const state = await RunState.fromString(agent, stored);
      state.approve(state.getInterruptions()[0]!);
      const model = script([]);
      agent.model = model;
      const { finalOutput } = await runner().run(agent, state);
      expect([finalOutput, outputsOf(model)[0]]).toEqual(["done", expect.stringMatching(/code 0/)]);
    }
    // Another process cannot know that the first one ran it.
    expect(readFileSync(marker, "utf8")).toBe("x\nx\n");
    const again = await RunState.fromString(first.agent, stored);
    again.approve(again.getInterruptions()[0]!);
    first.agent.model = script([]);
    await runner().run(first.agent, again);
    expect(readFileSync(marker, "utf8")).toBe("x\nx\n");
  });

  it("run nothing that was rejected", async () => {
    const orchestrator = await openAsking();
    const marker = join(directory, "rejected");
    const model = script([exec(`touch '${marker}'`)]);
    const { agent } = agentOf(orchestrator, model);
    const { state, interruptions } = await runner().run(agent, "go");
    state.reject(interruptions[0]!);
    await runner().run(agent, state);
    expect(outputsOf(model)[0]).toMatch(/not approved/);
    expect(existsSync(marker)).toBe(false);
  });

  it("take an approval of all calls of a tool as one of the call that was shown", async () => {
    const orchestrator = await openAsking();
    const marker = join(directory, "always");
    const model = script([exec("printf shown"), exec(`touch '${marker}'`)]);
    const { agent } = agentOf(orchestrator, model);
    const { state, interruptions } = await runner().run(agent, "go");
    state.approve(interruptions[0]!, { alwaysApprove: true });
    await runner().run(agent, state);
    const [shown, other] = outputsOf(model);
    expect(shown).toMatch(/shown$/);
    expect(other).toMatch(/not approved/);
    expect(existsSync(marker)).toBe(false);
  });

  it("ask about nothing that is allowed, forbidden or wrong", async () => {
    const orchestrator = await openAsking();
    const model = script([exec("pwd"), { tool: "exec_command", args: { cmd: 1 } }]);
    const { agent } = agentOf(orchestrator, model);
    const { finalOutput } = await runner().run(agent, "go");
    expect([finalOutput, ...outputsOf(model)]).toEqual([
      "done",
      expect.stringMatching(/code 0/),
      expect.stringMatching(/field `cmd`/),
    ]);
  });
});

describe("a sandbox session", () => {
  it("passes the shell of a `SandboxAgent` a dialogue at a terminal, and ends what is left", async () => {
    const orchestrator = await open();
    const session = codexSession(orchestrator, { environment: "local", cwd: directory });
    const model = new ScriptedModel([
      [
        functionCall(
          "exec_command",
          { cmd: "pwd; read line; echo got $line; sleep 1000", tty: true, login: false, yield_time_ms: 250 },
          { callId: "1" },
        ),
      ],
      {
        type: "responder",
        respond: ({ request }) => {
          const id = /session ID (\d+)/.exec(JSON.stringify(request.input))?.[1];
          return [
            functionCall(
              "write_stdin",
              { session_id: Number(id), chars: "hello\n", yield_time_ms: 1000 },
              { callId: "2" },
            ),
          ];
        },
      },
      [assistantMessage("done")],
    ]);
    const agent = new SandboxAgent({ name: "builder", instructions: "Fix the build.", model, capabilities: [shell()] });
    const result = await runner().run(agent, "go", { sandbox: { session } });
    expect(result.finalOutput).toBe("done");
    const [first, second] = outputsOf(model);
    expect(first).toContain(directory);
    expect(second).toMatch(/got hello/);
    await session.close();
    expect(await sessionsOf(orchestrator)).not.toMatch(/sleep 1000.*running/);
  });

  it("asks the approver of the orchestrator", async () => {
    const orchestrator = await openAsking();
    const text = await codexSession(orchestrator).execCommand({ cmd: "printf hi" });
    expect(text).toMatch(/not approved.*no approver/);
  });

  it("passes the patches and pictures of `filesystem()`, in the directory that it gives the model", async () => {
    const session = codexSession(await open(), { cwd: directory });
    writeFileSync(join(directory, "a.txt"), "one\ntwo\n");
    writeFileSync(join(directory, "dot.gif"), Buffer.from("R0lGODlhAQABAAAAACw=", "base64"));
    const patch = (id: string, operation: object) => ({
      type: "apply_patch_call" as const,
      status: "completed" as const,
      callId: id,
      operation: operation as { type: "delete_file"; path: string },
    });
    const model = new ScriptedModel([
      [
        patch("1", { type: "update_file", path: "a.txt", diff: "@@\n one\n-two\n+2\n", moveTo: "b/c.txt" }),
        patch("2", { type: "create_file", path: "new.txt", diff: "+ä\n" }),
        patch("3", { type: "delete_file", path: "none.txt" }),
        functionCall("view_image", { path: "dot.gif" }, { callId: "4" }),
      ],
      [assistantMessage("done")],
    ]);
    const agent = new SandboxAgent({ name: "builder", model, capabilities: [filesystem()] });
    const { history } = await runner().run(agent, "go", { sandbox: { session } });
    expect(model.lastCall?.request.systemInstructions).toContain(directory);
    const outputs = history.flatMap((item) =>
      "output" in item && "callId" in item ? [[item.callId, item.output]] : [],
    );
    expect(outputs).toEqual(
      expect.arrayContaining([
        ["1", "Moved a.txt to b/c.txt"],
        ["2", "Created new.txt"],
        ["3", "`none.txt` was not found"],
      ]),
    );
    expect(JSON.stringify(history)).toMatch(/image\/gif/);
    expect(existsSync(join(directory, "a.txt"))).toBe(false);
    expect(readFileSync(join(directory, "b/c.txt"), "utf8")).toBe("one\n2\n");
    expect(await session.listDir({ path: "b" })).toEqual([{ name: "c.txt", path: "b/c.txt", type: "file" }]);
    expect(Buffer.from(await session.readFile({ path: "new.txt", maxBytes: 2 })).toString()).toBe("ä");
    expect([await session.pathExists("a.txt"), await session.directoryExists("b")]).toEqual([false, true]);
  });

  it("damages no file by a patch that does not fit, and serves no other user", async () => {
    const session = codexSession(await open(), { cwd: directory });
    const binary = join(directory, "binary");
    writeFileSync(binary, new Uint8Array([0xff, 0x0a]));
    const editor = session.createEditor();
    const failed = (output: RegExp) => ({ status: "failed", output: expect.stringMatching(output) });
    const update = { type: "update_file", path: "binary", diff: "@@\n+x\n" } as const;
    expect(await editor.updateFile(update)).toEqual(failed(/not UTF-8/));
    expect(await editor.createFile({ type: "create_file", path: "binary", diff: "+x\n" })).toEqual(failed(/exists/));
    writeFileSync(join(directory, "text"), "");
    const edits = await Promise.all(
      [..."abc"].map((letter) => editor.updateFile({ type: "update_file", path: "text", diff: `@@\n+${letter}\n` })),
    );
    expect(edits.map((result) => result?.status)).toEqual(["completed", "completed", "completed"]);
    expect(readFileSync(join(directory, "text"), "utf8").replaceAll("\n", "").split("").toSorted().join("")).toBe(
      "abc",
    );
    expect(await editor.updateFile({ ...update, path: "text", diff: "@@\n-none\n+x\n" })).toEqual(failed(/Context/));
    expect([...readFileSync(binary)]).toEqual([0xff, 0x0a]);
    await expect(session.execCommand({ cmd: "id", runAs: "nobody" })).rejects.toThrow("`runAs`");
    await expect(session.readFile({ path: "text", runAs: "nobody" })).rejects.toThrow("`runAs`");
    const asking = codexSession(await open({ policy: { approvalPolicy: "untrusted", sandbox: "read-only" } }), {
      cwd: directory,
    });
    const refused = await asking.createEditor().deleteFile({ type: "delete_file", path: "text" });
    expect(refused).toEqual(failed(/nobody|approv/));
    expect(existsSync(join(directory, "text"))).toBe(true);
  });
});
