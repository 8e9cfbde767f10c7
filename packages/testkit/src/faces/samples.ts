import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A package for an agent stack, and how the first sample of its README is run as a program. */
export interface FaceSample {
  /** Folder of the package. */
  face: string;
  /** The package of the stack that it is installed beside. */
  stack: string;
  /** Range of versions that the sample is for. */
  range: string;
  /** The lowest major version of Node that these versions need. */
  node: number;
  /** Other packages that the README installs. */
  others?: readonly string[];
  /** Changes the sample into one that ends. */
  replace?: readonly (readonly [from: string, to: string])[];
  before?: string;
  after?: string;
  /** A separate client, if the sample is a server: it starts `sample.mjs`. */
  client?: string;
  stdout: string;
}

/** An import that is resolved in the created project, not in this package. */
const importing = (names: string, from: string) => `import ${names} from "${from}";`;

const createAiModel = (version: string) => `
${importing(`{ MockLanguageModel${version} }`, "ai/test")}
const call = { type: "tool-call", toolCallId: "1", toolName: "exec_command", input: '{"cmd":"echo tested"}' };
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const steps = [{ content: [call], finishReason: { unified: "tool-calls" } }, { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" } }];
const model = new MockLanguageModel${version}({ doGenerate: async () => ({ ...steps.shift(), usage, warnings: [] }) });
`;

/** The model, and everything else that a sample presupposes, is scripted. */
export const FACE_SAMPLES: readonly FaceSample[] = [
  { face: "ai-sdk", stack: "ai", range: "6", node: 20, before: createAiModel("V3"), stdout: "tested\n" },
  { face: "ai-sdk", stack: "ai", range: "7", node: 22, before: createAiModel("V4"), stdout: "tested\n" },
  {
    face: "openai-agents",
    stack: "@openai/agents",
    range: "^0.20.0",
    node: 20,
    others: ["zod@4"],
    before: `
${importing("{ setTracingDisabled }", "@openai/agents")}
${importing("{ assistantMessage, functionCall, ScriptedModel }", "@openai/agents/testing")}
setTracingDisabled(true);
const model = new ScriptedModel([[functionCall("exec_command", { cmd: "echo tested", login: false }, { callId: "1" })], [assistantMessage("done")]]);
`,
    after: "console.log(/tested/.test(JSON.stringify(result.history)), result.finalOutput);",
    stdout: "true done\n",
  },
  {
    face: "acp",
    stack: "@agentclientprotocol/sdk",
    range: "^2.4.0",
    node: 20,
    before: `
${importing("{ agent as createAgent }", "@agentclientprotocol/sdk")}
const agent = createAgent({ name: "worker" }).onRequest("initialize", async ({ client }) => {
  const terminal = await client.createTerminal({ sessionId: "s", command: "echo", args: ["tested"] });
  await terminal.waitForExit();
  return { protocolVersion: 1 };
});
`,
    stdout: "tested\n",
  },
  {
    face: "mcp-client",
    stack: "@modelcontextprotocol/client",
    range: "^2.4.0",
    node: 20,
    others: ["@modelcontextprotocol/server"],
    replace: [
      ['command: "uvx", args: ["mcp-server-git"]', 'command: process.execPath, args: [process.cwd() + "/server.mjs"]'],
    ],
    before: `
${importing("{ writeFileSync }", "node:fs")}
writeFileSync("server.mjs", \`
${importing("{ McpServer }", "@modelcontextprotocol/server")}
${importing("{ serveStdio }", "@modelcontextprotocol/server/stdio")}
serveStdio(() => {
  const server = new McpServer({ name: "git", version: "1.0.0" });
  server.registerTool("tested", {}, () => ({ content: [] }));
  return server;
});
\`);
`,
    stdout: "[ 'tested' ]\n",
  },
  {
    face: "mcp",
    stack: "@modelcontextprotocol/client",
    range: "2",
    node: 20,
    client: `
${importing("{ Client }", "@modelcontextprotocol/client")}
${importing("{ StdioClientTransport }", "@modelcontextprotocol/client/stdio")}
const client = new Client({ name: "host", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command: process.execPath, args: ["sample.mjs"] }));
const result = await client.callTool({ name: "exec_command", arguments: { cmd: "echo tested" } });
console.log(client.getProtocolEra(), result.content[0].text.match(/tested/)[0]);
await client.close();
`,
    stdout: "modern tested\n",
  },
];

/** The first sample of a README as a program of JavaScript modules, whose commands run without a sandbox. */
export function readFaceSample(packages: string, { face, before = "", after = "", replace = [] }: FaceSample): string {
  const readme = readFileSync(join(packages, face, "README.md"), "utf8");
  const [, code = ""] = /^```ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  const policy = 'policy: { approvalPolicy: "never", sandbox: "danger-full-access" }';
  let sample = code.replace(/policy: \{ approvalPolicy: [^}]*\}/, policy);
  for (const [from, to] of replace) {
    if (!sample.includes(from)) throw new Error(`the README of ${face} has no \`${from}\` in its first sample`);
    sample = sample.replace(from, to);
  }
  return `${before}\n${sample}\n${after}`;
}
