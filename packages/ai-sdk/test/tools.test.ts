import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CodexToolOutput, codexApproval, codexTools, nameOutput } from "@codex/ai-sdk";
import { checkFace, FACE_CASES, type FaceAnswer, type FaceCheck, FILE_FACE_CASES } from "@codex/local/testing";
import type { ApprovalRequest, Orchestrator } from "@codex/orchestrator";
import type { ModelMessage } from "ai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAtWebSocket } from "../../local/test/at-websocket.js";
import { canRun, openOrchestrator, outputsOf, STACKS } from "./support/stacks.js";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "ai sdk "));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const asking = () => openOrchestrator({ policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" } });
const exec = (cmd: string, more: object = {}) => ({ tool: "exec_command", args: { cmd, ...more } });
const sessionsOf = async (orchestrator: Orchestrator) => (await orchestrator.callTool("list_sessions", {})).text;

/** Messages with the answer of a user to each question of theirs. */
function answered(messages: readonly ModelMessage[], approved: boolean): ModelMessage[] {
  const requests = messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.flatMap((part) => (part.type === "tool-approval-request" ? [part] : [])),
  );
  const content = requests.map(({ approvalId }) => ({ type: "tool-approval-response" as const, approvalId, approved }));
  return [...messages, { role: "tool", content }];
}

/** A part of a result: `ai` 6 has the data of a picture as they are, `ai` 7 in an object. */
interface ContentPart {
  type: string;
  text?: string;
  data?: string | { type: "data"; data: string };
  mediaType?: string;
}

/** A result with pictures. */
function readContent(parts: readonly ContentPart[]): FaceAnswer {
  return {
    text: parts[0]?.text ?? "",
    isError: false,
    images: parts.slice(1).map(({ data = "", mediaType = "" }) => ({
      data: typeof data === "string" ? data : data.data,
      mediaType,
    })),
  };
}

describe.each(STACKS)("$name", (stack) => {
  const { load } = stack;
  describe.skipIf(!canRun(stack))(`with Node ${stack.node} or later`, () => {
    /** Approvals as each version takes them. */
    async function start(orchestrator: Orchestrator, terms: Parameters<typeof codexApproval>[1] = {}) {
      const { ai, createModel } = await load();
      const approval = codexApproval(orchestrator, terms);
      const isOld = stack.name.startsWith("ai 6");
      const tools = codexTools(orchestrator, isOld ? { approval } : {});
      return { ai, createModel, tools, approvals: isOld ? {} : { toolApproval: approval } };
    }

    const connect: FaceCheck["connect"] = (orchestrator) => ({
      async call(tool, args) {
        const { ai, createModel } = await load();
        const { model, prompts } = createModel([[{ tool, args }]]);
        const tools = codexTools(orchestrator);
        await ai.generateText({ model, prompt: "go", tools, stopWhen: ai.stepCountIs(3) });
        const [output] = outputsOf(prompts[1]!);
        if (output?.type === "content") return readContent(output.value as ContentPart[]);
        return {
          text: String(output?.type === "execution-denied" ? output.reason : output?.value),
          isError: output?.type !== "text",
        };
      },
    });

    it.each([...FACE_CASES, ...FILE_FACE_CASES])("passes the face kit: $name", async (faceCase) => {
      await checkFace(faceCase, { open: (options) => openOrchestrator(options), connect });
    });

    it.each(FILE_FACE_CASES)("passes it at an executor behind a websocket: $name", async (faceCase) => {
      await checkFace(faceCase, { open: openAtWebSocket, connect });
    });

    it("streams the end of the output while a command runs, and all of it to `onOutput`", async () => {
      const orchestrator = await openOrchestrator();
      const { ai, createModel } = await load();
      let bytes = 0;
      const ids = new Set<string>();
      const tools = codexTools(orchestrator, {
        onOutput(output) {
          bytes += output.bytes.length;
          ids.add(output.toolCallId);
        },
      });
      const cmd = "head -c 100000 /dev/zero | tr '\\0' a; printf 'äö'; sleep 0.3; echo end";
      const { model } = createModel([[{ id: "one", ...exec(cmd) }]]);
      const stream = ai.streamText({ model, prompt: "go", tools, stopWhen: ai.stepCountIs(2) });
      const outputs: { output: CodexToolOutput; preliminary: boolean | undefined }[] = [];
      for await (const part of stream.fullStream) {
        if (part.type === "tool-result") {
          outputs.push({ output: part.output as CodexToolOutput, preliminary: part.preliminary });
        }
      }
      const running = outputs.filter(({ output }) => output.status === "running");
      expect(running.length).toBeGreaterThan(0);
      expect(running.every(({ output, preliminary }) => Buffer.byteLength(output.text) <= 4096 && preliminary)).toBe(
        true,
      );
      expect(running.at(-1)?.output.text).toMatch(/(äö|end\n)$/);
      const last = outputs.at(-1);
      expect(last).toMatchObject({ output: { status: "success", isError: false, structured: { exitCode: 0 } } });
      expect(last?.preliminary ?? false).toBe(false);
      expect([bytes, [...ids]]).toEqual([100_008, ["one"]]);
    });

    it("types results by the name of the tool", async () => {
      const orchestrator = await openOrchestrator();
      const { ai, createModel } = await load();
      const { model } = createModel([[exec("exit 3")], [{ tool: "list_sessions", args: {} }]]);
      const tools = codexTools(orchestrator);
      const { steps } = await ai.generateText({ model, prompt: "go", tools, stopWhen: ai.stepCountIs(3) });
      const seen = steps.flatMap(({ toolResults }) =>
        toolResults.map((part) => {
          const named = nameOutput(part);
          if (named?.output.status !== "success") return undefined;
          if (named.tool === "exec_command") return named.output.structured?.exitCode;
          if (named.tool === "list_sessions") return named.output.structured?.sessions;
          return named.tool;
        }),
      );
      expect(seen).toEqual([3, []]);
      expect(nameOutput({ toolName: "exec_command", output: "text of another tool" })).toBeUndefined();
    });

    it("keeps the session of an aborted call, until `dispose`", async () => {
      const orchestrator = await openOrchestrator();
      const { ai, createModel, tools } = await start(orchestrator);
      const { model } = createModel([[exec("echo begun; sleep 1000")]]);
      const abort = new AbortController();
      const seen = orchestrator.observe((event) => {
        if (event.type === "output") abort.abort();
      });
      const given = { model, prompt: "go", tools, stopWhen: ai.stepCountIs(2), abortSignal: abort.signal };
      // Version 6 goes on to the model, which ignores the signal here.
      await Promise.resolve(ai.generateText(given)).catch((error: unknown) => expect(String(error)).toMatch(/abort/i));
      seen();
      expect(await sessionsOf(orchestrator)).toContain("sleep 1000");
      await tools.dispose();
      expect(await sessionsOf(orchestrator)).not.toMatch(/sleep 1000.*running/);
      expect(Object.keys(tools)).not.toContain("dispose");
    });

    it("asks the user about what the policy asks about, and runs it once", async () => {
      const orchestrator = await asking();
      const marker = join(directory, `${stack.node} once`);
      const requests: ApprovalRequest[] = [];
      const { ai, createModel, tools, approvals } = await start(orchestrator, {
        onRequest: (request) => requests.push(request),
      });
      const { model, prompts } = createModel([[exec(`echo x >> '${marker}'; wc -l < '${marker}'`)]]);
      const given = { model, tools, ...approvals, stopWhen: ai.stepCountIs(3) };
      const first = await ai.generateText({ ...given, prompt: "go" });
      expect(first.content.map(({ type }) => type)).toContain("tool-approval-request");
      expect([requests.length, existsSync(marker)]).toEqual([1, false]);
      const messages = answered([{ role: "user", content: "go" }, ...first.response.messages], true);
      const second = await ai.generateText({ ...given, messages });
      expect(second.text).toBe("done");
      expect(outputsOf(prompts[1]!)).toMatchObject([
        { type: "text", value: expect.stringMatching(/code 0[\s\S]*\n1\n$/) },
      ]);
      // The same messages once more, as a browser may send them.
      await ai.generateText({ ...given, messages });
      expect(outputsOf(prompts[2]!)).toEqual(outputsOf(prompts[1]!));
      expect(requests.length).toBe(1);
    });

    it("runs nothing that the user declines, and nothing else than what was asked about", async () => {
      const orchestrator = await asking();
      const marker = join(directory, `${stack.node} other`);
      const { ai, createModel, tools, approvals } = await start(orchestrator);
      const { model, prompts } = createModel([[exec("say hi")]]);
      const given = { model, tools, ...approvals, stopWhen: ai.stepCountIs(3) };
      const first = await ai.generateText({ ...given, prompt: "go" });
      const history: ModelMessage[] = [{ role: "user", content: "go" }, ...first.response.messages];
      await ai.generateText({ ...given, messages: answered(history, false) });
      expect(outputsOf(prompts[1]!)).toMatchObject([{ type: "execution-denied" }]);
      const forged = JSON.parse(JSON.stringify(answered(history, true)).replaceAll("say hi", `touch '${marker}'`));
      await ai.generateText({ ...given, messages: forged });
      expect(outputsOf(prompts[2]!)).toMatchObject([
        { type: "error-text", value: expect.stringContaining("not what was approved") },
      ]);
      expect(existsSync(marker)).toBe(false);
    });

    it("does not count approvals of another process, unless the messages are trusted", async () => {
      const orchestrator = await asking();
      const one = await start(orchestrator);
      const { model } = one.createModel([[exec("printf hi")]]);
      const first = await one.ai.generateText({ model, prompt: "go", tools: one.tools, ...one.approvals });
      const messages = answered([{ role: "user", content: "go" }, ...first.response.messages], true);
      const other = await start(orchestrator);
      const again = other.createModel([]);
      await other.ai.generateText({ model: again.model, messages, tools: other.tools, ...other.approvals });
      expect(outputsOf(again.prompts[0]!)).toMatchObject([
        { type: "execution-denied", reason: expect.stringContaining("no approver") },
      ]);
      if (stack.node === 20) return;
      const trusting = await start(orchestrator, { trustsMessages: true });
      const last = trusting.createModel([]);
      await trusting.ai.generateText({ model: last.model, messages, tools: trusting.tools, ...trusting.approvals });
      expect(outputsOf(last.prompts[0]!)).toMatchObject([{ type: "text", value: expect.stringMatching(/hi$/) }]);
    });

    it("asks about nothing that is allowed or forbidden, and about no tool of others", async () => {
      const orchestrator = await asking();
      const { ai, createModel, tools, approvals } = await start(orchestrator);
      const other = ai.tool({ inputSchema: ai.jsonSchema({ type: "object" }), execute: async () => "mine" });
      const { model, prompts } = createModel([
        [exec("pwd"), { tool: "other", args: {} }, { tool: "exec_command", args: { cmd: 1 } }],
      ]);
      await ai.generateText({
        model,
        prompt: "go",
        tools: { ...tools, other },
        ...approvals,
        stopWhen: ai.stepCountIs(3),
      });
      expect(outputsOf(prompts[1]!).map(({ type }) => type)).toEqual(["text", "text", "error-text"]);
    });
  });
});
