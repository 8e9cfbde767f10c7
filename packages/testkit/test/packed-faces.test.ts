// Each face as npm installs it, beside the lowest and the newest version of its stack, in a project outside of this one: the
// sample of its README runs.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listWithDependencies, packInto } from "./packed-project.js";

const packages = fileURLToPath(new URL("../../", import.meta.url));
/** npm takes its time on a busy machine. */
const SLOW_MS = 120_000;

const createAiModel = (version: string) => `
import { MockLanguageModel${version} } from "ai/test";
const call = { type: "tool-call", toolCallId: "1", toolName: "exec_command", input: '{"cmd":"echo tested"}' };
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const steps = [{ content: [call], finishReason: { unified: "tool-calls" } }, { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" } }];
const model = new MockLanguageModel${version}({ doGenerate: async () => ({ ...steps.shift(), usage, warnings: [] }) });
`;

/** A face, its stack, what its sample needs beforehand, and what it prints. */
const FACES = [
  { face: "ai-sdk", stack: "ai", from: "ai-6", node: 20, before: createAiModel("V3"), stdout: "tested\n" },
  { face: "ai-sdk", stack: "ai", from: "ai", node: 22, before: createAiModel("V4"), stdout: "tested\n" },
  {
    face: "openai-agents",
    stack: "@openai/agents",
    from: "@openai/agents",
    node: 20,
    before: `
import { setTracingDisabled } from "@openai/agents";
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing";
setTracingDisabled(true);
const model = new ScriptedModel([[functionCall("exec_command", { cmd: "echo tested", login: false }, { callId: "1" })], [assistantMessage("done")]]);
`,
    after: "console.log(/tested/.test(JSON.stringify(result.history)), result.finalOutput);",
    stdout: "true done\n",
  },
  {
    face: "acp",
    stack: "@agentclientprotocol/sdk",
    from: "@agentclientprotocol/sdk",
    node: 20,
    before: `
import { agent as createAgent } from "@agentclientprotocol/sdk";
const agent = createAgent({ name: "worker" }).onRequest("initialize", async ({ client }) => {
  const terminal = await client.createTerminal({ sessionId: "s", command: "echo", args: ["tested"] });
  await terminal.waitForExit();
  return { protocolVersion: 1 };
});
`,
    stdout: "tested\n",
  },
];

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "codex packed faces-"));
  packInto(project, listWithDependencies(["local", ...new Set(FACES.map(({ face }) => face))]));
  writeFileSync(join(project, "package.json"), '{ "type": "module" }');
}, SLOW_MS);
afterAll(() => rmSync(project, { recursive: true }));

/** The first sample of a README, as JavaScript, which may run commands. */
function readSample(face: string): string {
  const [, code = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readFileSync(join(packages, face, "README.md"), "utf8")) ?? [];
  return code.replace('sandbox: "workspace-write"', 'sandbox: "danger-full-access"');
}

describe.each(FACES)("@codex/$face beside $from", ({ face, stack, from, node, before, after = "", stdout }) => {
  it.skipIf(Number(process.versions.node.split(".")[0]) < node)(
    `runs its README, with Node ${node} or later`,
    () => {
      const { version } = JSON.parse(
        readFileSync(join(packages, face, "node_modules", from, "package.json"), "utf8"),
      ) as {
        version: string;
      };
      const link = join(project, "node_modules", stack);
      mkdirSync(dirname(link), { recursive: true });
      rmSync(link, { force: true });
      symlinkSync(join(packages, face, "node_modules", from), link);
      const file = `${face}-${version}.mjs`;
      writeFileSync(join(project, file), `${before}\n${readSample(face)}\n${after}`);
      const env = { PATH: process.env.PATH, HOME: project };
      const ran = spawnSync(process.execPath, [file], { cwd: project, encoding: "utf8", env });
      expect({ status: ran.status, stdout: ran.stdout, stderr: ran.stderr }).toEqual({ status: 0, stdout, stderr: "" });
    },
    SLOW_MS,
  );
});
