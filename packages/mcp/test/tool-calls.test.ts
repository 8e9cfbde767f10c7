import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMcpServers, serveMcpStdio } from "@codex/mcp";
import type { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClient, ERAS, listRunning, open, textOf } from "./support.js";

const exec = (client: Client, cmd: string, more: object = {}) =>
  client.callTool({ name: "exec_command", arguments: { cmd, ...more } });

/** A session that only waits, and its id. */
async function startCat(client: Client, first = "exec cat"): Promise<number> {
  const started = await exec(client, first, { stdin: "open", yield_time_ms: 250 });
  const id = /session ID (\d+)/.exec(textOf(started))?.[1];
  if (id === undefined) throw new Error(textOf(started));
  return Number(id);
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex-mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A call that is cancelled once its program has written something. */
async function cancelCall(client: Client): Promise<void> {
  const abort = new AbortController();
  const args = { cmd: "echo up; exec cat", stdin: "open", yield_time_ms: 30_000 };
  const params = { name: "exec_command", arguments: args };
  const call = client.callTool(params, { signal: abort.signal, onprogress: () => abort.abort() });
  await expect(call).rejects.toThrow();
}

const ACCEPTED = { action: "accept", content: { decision: "accept" } } as const;

describe.each(ERAS)("tools over MCP, %s", (era) => {
  it("are listed with schemas and annotations", async () => {
    const { connect } = await open();
    const { tools } = await (await connect(era)).listTools();
    const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    expect(Object.keys(named)).toContain("write_stdin");
    expect(named.exec_command).toMatchObject({
      inputSchema: { type: "object", required: ["cmd"] },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    });
    expect(named.exec_command?.description).toMatch(/shell.*process.*terminal.*at most 50 s/s);
    expect(named.list_sessions?.annotations).toMatchObject({ readOnlyHint: true });
  });

  it("return the text of the orchestrator, with the whole result in _meta", async () => {
    const { connect, orchestrator } = await open();
    const client = await connect(era);
    const result = await exec(client, "echo out; exit 3", { no_such_argument: 1 });
    expect(textOf(result)).toMatch(/Process exited with code 3\n.*Output:\nout\n$/s);
    expect(result.structuredContent).toBeUndefined();
    expect(result._meta?.["codex/result"]).toMatchObject({ exitCode: 3, range: { from: 0, to: 4 } });
    const direct = await orchestrator.callTool("exec_command", { cmd: "echo out; exit 3", no_such_argument: 1 });
    const plain = (text: string) => text.replace(/^Chunk ID: .*\nWall time: .*\n/m, "");
    expect(plain(textOf(result))).toBe(plain(direct.text));
  });

  it("return structured content that includes the text, if configured", async () => {
    const { connect } = await open({ structured: true });
    const client = await connect(era);
    const { tools } = await client.listTools();
    for (const { outputSchema } of tools) expect(outputSchema).toMatchObject({ type: "object", required: ["text"] });
    // The client validates structured content against the schema.
    const refused = await client.callTool({ name: "read_output", arguments: { session_id: 1 } });
    expect(refused.structuredContent).toMatchObject({ text: expect.stringContaining("unknown session") as string });
    const result = await exec(client, "echo out");
    expect(result.structuredContent).toMatchObject({ exitCode: 0, text: expect.stringContaining("out\n") as string });
  });

  it("use one session over several calls", async () => {
    const { connect } = await open();
    const client = await connect(era);
    const session = await startCat(client, "read line; echo got $line");
    const args = { session_id: session, chars: "x\n", until: "exit" };
    expect(textOf(await client.callTool({ name: "write_stdin", arguments: args }))).toMatch(/got x\n$/);
  });

  it("run once, and only what was shown, when a person accepts", async () => {
    const file = join(temporary(), "ran");
    const shown: string[] = [];
    const { connect } = await open({ approvalPolicy: "untrusted" });
    const client = await connect(era, (message, choices) => {
      shown.push(message, choices.join(" "));
      return { action: "accept", content: { decision: "accept" } };
    });
    const result = await exec(client, `echo once >> ${file}`);
    expect(textOf(result)).toMatch(/Process exited with code 0/);
    expect(readFileSync(file, "utf8")).toBe("once\n");
    expect(shown).toEqual([
      expect.stringContaining(`echo once >> ${file}`),
      "accept accept_for_session decline cancel",
    ]);
  });

  it.each([
    ["declines", { action: "decline" }],
    ["dismisses the question", { action: "cancel" }],
    ["answers with a choice that was not offered", { action: "accept", content: { decision: "accept_and_save" } }],
    ["answers nothing", { action: "accept", content: {} }],
  ] as const)("run nothing when a client %s", async (_what, answer) => {
    const { connect } = await open({ approvalPolicy: "untrusted" });
    const result = await exec(await connect(era, () => ({ ...answer })), "touch /dev/null");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/not approved: the client declined it.*Nothing was run\.$/s);
  });

  it.runIf(process.platform === "linux")("ask about programs that they start, one after the other", async () => {
    const directory = temporary();
    const { connect } = await open({
      approvalPolicy: "on-request",
      sandbox: "workspace-write",
      rules: 'prefix_rule(["touch"], decision="prompt")',
    });
    const shown: string[] = [];
    const client = await connect(era, (message) => {
      shown.push(message);
      return message.includes(`touch ${directory}/one`) ? { action: "decline" } : ACCEPTED;
    });
    writeFileSync(join(directory, "name"), "touch");
    const script = `t=$(cat ${directory}/name)`;
    const text = textOf(await exec(client, `${script}; $t ${directory}/one & $t ${directory}/two & wait; echo done`));
    expect(text).toContain(`Refused: touch ${directory}/one`);
    expect(text).toMatch(/done\n$/);
    expect([existsSync(join(directory, "one")), existsSync(join(directory, "two"))]).toEqual([false, true]);
    const programs = shown.filter((message) => message.includes("asks before the program"));
    expect(programs).toHaveLength(2);
  });

  it("run nothing when the server was closed while the question was open", async () => {
    const file = join(temporary(), "ran");
    const { connect, servers } = await open({ approvalPolicy: "untrusted" });
    const client = await connect(era, () => {
      servers.close();
      return { action: "accept", content: { decision: "accept" } };
    });
    await expect(exec(client, `touch ${file}`)).rejects.toThrow(/does not wait for this answer any more/);
    expect(existsSync(file)).toBe(false);
  });

  it("wait for at most 64 answers of a client at once", async () => {
    const { connect } = await open({ approvalPolicy: "untrusted" });
    const client = await connect(era, () => ({ action: "decline" }));
    let answerAll = () => {};
    const refused = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    client.setRequestHandler("elicitation/create", async () => {
      await refused;
      return { action: "decline" };
    });
    const calls = Array.from({ length: 65 }, async () => {
      const text = textOf(await exec(client, "touch /dev/null"));
      if (text.includes("limit 64 calls")) answerAll();
      return text;
    });
    const texts = await Promise.all(calls);
    expect(texts.filter((text) => text.includes("limit 64 calls"))).toHaveLength(1);
    expect(texts.filter((text) => text.includes("the client declined it"))).toHaveLength(64);
  });

  it("return the rule that would allow the command if the client cannot ask", async () => {
    const { connect } = await open({ approvalPolicy: "untrusted" });
    const result = await exec(await connect(era), "frob --all");
    expect(textOf(result)).toMatch(/this MCP client cannot ask its user.*prefix_rule\(pattern=\["frob"/);
  });

  it("show invisible characters of a command", async () => {
    const { connect } = await open({ approvalPolicy: "untrusted" });
    let shown = "";
    const client = await connect(era, (message) => {
      shown = message;
      return { action: "decline" };
    });
    await exec(client, "frob \u202e\u200b\u001b[2J\ufe0f\u{13442}\nreason: safe");
    expect(shown).toContain("frob \\u202e\\u200b\\u001b[2J\\ufe0f\\u{13442}\\u000areason: safe");
  });

  it("send progress if requested", async () => {
    const { connect } = await open();
    const client = await connect(era);
    const lines: (string | undefined)[] = [];
    const args = { cmd: "echo first; echo second; exec cat", stdin: "open", yield_time_ms: 1_000 };
    const params = { name: "exec_command", arguments: args };
    await client.callTool(params, { onprogress: ({ message }) => void lines.push(message) });
    expect(lines.at(-1)).toBe("second");
    expect(lines.length).toBeLessThanOrEqual(5);
  });

  it("keep the session of a cancelled call running, and name it in the next result", async () => {
    const { connect, orchestrator } = await open();
    const client = await connect(era);
    await cancelCall(client);
    let text = "";
    await expect.poll(async () => (text = textOf(await exec(client, "echo next")))).toMatch(/^Note: /);
    const [session] = await listRunning(orchestrator);
    expect(text).toMatch(new RegExp(`^Note: an earlier call was cancelled.*runs on as session ${session}\n`));
    expect(textOf(await exec(client, "echo again"))).not.toMatch(/cancelled/);
  });

  it("end the program of a cancelled call if configured", async () => {
    const { connect, orchestrator } = await open({ onCancel: "kill" });
    await cancelCall(await connect(era));
    await expect.poll(() => listRunning(orchestrator)).toEqual([]);
  });

  it("bound how long a call is held", async () => {
    const { connect } = await open({ maxHoldMs: 300 });
    const result = await exec(await connect(era), "exec cat", { stdin: "open", yield_time_ms: 30_000 });
    expect(textOf(result)).toMatch(/30000 ms is outside .*300 ms was used/);
    expect(textOf(result)).toMatch(/running with session ID/);
  });

  it("give the output of a session as a resource", async () => {
    const { connect } = await open();
    const client = await connect(era);
    const session = await startCat(client, "echo kept; exec cat");
    const { contents } = await client.readResource({ uri: `codex://sessions/${session}/output` });
    expect(contents[0]).toMatchObject({ text: expect.stringContaining("kept\n") as string });
  });

  it("keep clients apart", async () => {
    const { connect } = await open();
    const [one, other] = [await connect(era, undefined, "one"), await connect(era, undefined, "other")];
    const session = await startCat(one);
    const read = (client: Client) => client.callTool({ name: "read_output", arguments: { session_id: session } });
    expect((await read(one)).isError).toBe(false);
    expect(textOf(await read(other))).toMatch(/unknown session/);
  });

  it("run a call once that comes again", async () => {
    const file = join(temporary(), "ran");
    const { connect } = await open();
    const client = await connect(era);
    const args = { cmd: `echo once >> ${file}` };
    const params = { name: "exec_command", arguments: args, _meta: { callId: "call-1", threadId: "t" } };
    await Promise.all([client.callTool(params), client.callTool(params)]);
    expect(readFileSync(file, "utf8")).toBe("once\n");
    // Other calls, whose long ids begin alike.
    const threadId = "t".repeat(1_000);
    await Promise.all(["a", "b"].map((callId) => client.callTool({ ...params, _meta: { callId, threadId } })));
    expect(readFileSync(file, "utf8")).toBe("once\nonce\nonce\n");
  });
});

it("an orchestrator is opened when it is first used, and again if that failed", async () => {
  const { orchestrator } = await open();
  let count = 0;
  const servers = createMcpServers(() => {
    count += 1;
    return count === 1 ? Promise.reject(new Error("not yet")) : Promise.resolve(orchestrator);
  });
  onTestFinished(() => servers.close());
  const [ours, its] = InMemoryTransport.createLinkedPair();
  serveMcpStdio(servers, { transport: its });
  const client = createClient("legacy");
  await client.connect(ours);
  onTestFinished(() => client.close());
  expect(count).toBe(0);
  await expect(exec(client, "true")).rejects.toThrow(/not yet/);
  expect(textOf(await exec(client, "true"))).toMatch(/Process exited with code 0/);
  expect(count).toBe(2);
});

it.each([1, 300_001, 0.5])("a hold of %d ms is out of bounds", async (maxHoldMs) => {
  await expect(open({ maxHoldMs })).rejects.toThrow(/maxHoldMs is .*; expected whole milliseconds from 250 to 300000/);
});
