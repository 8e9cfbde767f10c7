import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agent, client, methods } from "@agentclientprotocol/sdk";
import { acpFiles } from "@codex/acp";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { ApprovalRequest } from "@codex/orchestrator";
import { createSandboxSelector } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";
import { openAtWebSocket } from "../../local/test/at-websocket.js";

const { kind } = await createCommandSandbox().getSupport();

interface World {
  cwd: string;
  asked: ApprovalRequest[];
  read(path: string, more?: object): Promise<string>;
  write(path: string, content: string): Promise<unknown>;
}

/** Runs an agent of the SDK against a client of the SDK that has our files, which are below `work`. */
async function withAgent(
  run: (world: World) => Promise<void>,
  options: LocalOrchestratorOptions = {},
  decision: "accept" | "decline" = "decline",
): Promise<void> {
  const root = realpathSync(mkdtempSync("/var/tmp/codex-acp-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const cwd = join(root, "work");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\r\nthree");
  writeFileSync(join(cwd, ".env"), "s3cret");
  const asked: ApprovalRequest[] = [];
  const orchestrator = await createLocalOrchestrator({
    policy: {
      approvalPolicy: "on-request",
      sandbox: createSandboxSelector({ mode: "workspace-write", denyRead: [join(cwd, ".env")] }),
    },
    approver: {
      requestApproval: async (request) => {
        asked.push(request);
        return decision;
      },
    },
    ...options,
  });
  onTestFinished(() => orchestrator.close());
  const editor = client({ name: "editor" });
  acpFiles(orchestrator, { cwd }).addTo(editor);
  const worker = agent({ name: "worker" })
    .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest(methods.agent.session.new, () => ({ sessionId: "s1" }))
    .onRequest(methods.agent.session.prompt, async ({ client: context }) => {
      const { fs } = methods.client;
      await run({
        cwd,
        asked,
        read: async (path, more = {}) =>
          (await context.request(fs.readTextFile, { sessionId: "s1", path, ...more })).content,
        write: (path, content) => context.request(fs.writeTextFile, { sessionId: "s1", path, content }),
      });
      return { stopReason: "end_turn" };
    });
  await editor.connectWith(worker, async (context) => {
    const fs = { readTextFile: true, writeTextFile: true };
    await context.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: { fs } });
    await context.request(methods.agent.session.new, { cwd, mcpServers: [] });
    await context.request(methods.agent.session.prompt, { sessionId: "s1", prompt: [{ type: "text", text: "go" }] });
  });
}

/** The error of a request, as the agent gets it. */
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => "nothing",
    (error: { code: number; message: string; data?: unknown }) => ({
      code: error.code,
      text: `${error.message} ${JSON.stringify(error.data)}`,
    }),
  );

it("files of an ACP client at an executor behind a websocket are read and written there", async () => {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const directory = realpathSync(mkdtempSync("/var/tmp/codex-acp-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const files = acpFiles(await openAtWebSocket({ policy }));
  const path = join(directory, "a.txt");
  await files.writeTextFile({ sessionId: "s1", path, content: "one\ntwo\n" });
  expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  expect(await files.readTextFile({ sessionId: "s1", path, line: 2 })).toEqual({ content: "two\n" });
});

const EVERYTHING = { policy: { approvalPolicy: "never", sandbox: "danger-full-access" } } as const;

describe("files of an ACP client", () => {
  it("are read by lines, which keep their ends, and written whole", async () => {
    await withAgent(async ({ cwd, read, write }) => {
      const a = join(cwd, "a.txt");
      expect(await read(a)).toBe("one\ntwo\r\nthree");
      expect(await read(a, { line: 2 })).toBe("two\r\nthree");
      expect(await read(a, { line: 2, limit: 1 })).toBe("two\r\n");
      expect(await read(a, { line: 9, limit: 1 })).toBe("");
      expect(await read(a, { limit: 0 })).toBe("");
      await write(join(cwd, "new/b.txt"), "ä\n");
      expect(readFileSync(join(cwd, "new/b.txt"), "utf8")).toBe("ä\n");
      await write(a, "");
      expect(await read(a)).toBe("");
    }, EVERYTHING);
  });

  it("that are not there, no text, or asked for by wrong lines are errors with their reason", async () => {
    await withAgent(async ({ cwd, read }) => {
      const gone = join(cwd, "gone");
      expect(await failureOf(read(gone))).toEqual({ code: -32002, text: expect.stringContaining("gone") });
      writeFileSync(join(cwd, "binary"), Buffer.from([0xff, 0xfe]));
      expect(await failureOf(read(join(cwd, "binary")))).toMatchObject({ text: expect.stringContaining("not text") });
      expect(await failureOf(read(join(cwd, "a.txt"), { line: 0 }))).toMatchObject({ code: -32602 });
      expect(await failureOf(read(cwd))).toMatchObject({ code: -32603 });
    }, EVERYTHING);
  });

  it.skipIf(kind === "none")("that are denied stay denied, and others are written as a person decides", async () => {
    await withAgent(async ({ cwd, asked, read, write }) => {
      const denied = await failureOf(read(join(cwd, ".env")));
      expect(JSON.stringify(denied)).not.toContain("s3cret");
      expect(denied).toMatchObject({ code: expect.any(Number) });
      await write(join(cwd, "b.txt"), "b");
      expect(asked).toEqual([]);
      const outside = join(cwd, "../outside.txt");
      expect(await failureOf(write(outside, "x"))).toMatchObject({ code: -32603 });
      expect([asked.length, existsSync(outside)]).toEqual([1, false]);
    });
    await withAgent(
      async ({ cwd, write }) => {
        await write(join(cwd, "../outside.txt"), "x");
        expect(readFileSync(join(cwd, "../outside.txt"), "utf8")).toBe("x");
      },
      {},
      "accept",
    );
  });
});
