import { createHostTools } from "@codex/executor";
import { createOrchestrator, type LiveOutput, type Orchestrator } from "@codex/orchestrator";
import { createEvictingServer } from "@codex/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createRemoteEnvironment, createWebSocketLink } from "../src/index.js";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Every command writes `before`, 5,000 bytes that are evicted while there is no connection, and `after`. */
async function open(after: string): Promise<Orchestrator> {
  const evicted = { evictedChunks: 2, evictedBytes: 5000 };
  const server = await createEvictingServer({ before: "before", ...evicted, after, exitCode: 0 });
  closing.push(() => server.close());
  const link = createWebSocketLink({ url: server.url });
  const environment = createRemoteEnvironment({ id: "remote", kind: "websocket", link, hostTools: createHostTools() });
  closing.push(() => environment.close());
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
  closing.push(() => orchestrator.close());
  await environment.attach(orchestrator);
  return orchestrator;
}

const describePiece = ({ bytes, dropped }: LiveOutput) =>
  `${dropped === undefined ? "" : `<${dropped.from}-${dropped.to}>`}${bytes}`;

async function readAll(output: AsyncIterable<LiveOutput>): Promise<string> {
  let text = "";
  for await (const piece of output) text += describePiece(piece);
  return text;
}

describe.each([{ after: "after" }, { after: "" }])("output that an exec-server evicted before $after", ({ after }) => {
  // The server can count what it lost only where more follows.
  const to = after === "" ? 6 + 2 * "before".length : 5006;

  it("is named in the text and the structured result of a call, and in its live output", async () => {
    const orchestrator = await open(after);
    const pieces: string[] = [];
    const onOutput = (piece: LiveOutput) => void pieces.push(describePiece(piece));
    const result = await orchestrator.callTool("exec_command", { cmd: "x", yield_time_ms: 20_000 }, { onOutput });
    const range = { from: 6, to, reason: "evicted", ...(after === "" ? { estimated: true } : {}) };
    expect(result.structured).toMatchObject({ exitCode: 0, omitted: [range] });
    expect(result.text).toContain(`Bytes 6-${to} are gone: they were not retained; the exec-server had evicted it`);
    expect(pieces.join("")).toBe(`before<6-${to}>${after}`);
    const call = orchestrator.startCall("exec_command", { cmd: "x", yield_time_ms: 20_000 });
    expect(await readAll(call.output)).toBe(`before<6-${to}>${after}`);
    await call.result;
  });

  it("is named to the loop of a program, and to both streams", async () => {
    const orchestrator = await open(after);
    const { output } = orchestrator.runCommand({ argv: ["x"], env: {}, tty: false, stdin: "null" });
    expect(await readAll(output)).toBe(`before<6-${to}>${after}`);
    const { stdout, stderr, ended } = orchestrator.startCommand({ cmd: "x" });
    const both = await Promise.all([readAll(stdout), readAll(stderr)]);
    expect(both).toEqual([`before<6-${to}>${after}`, `<6-${to}>`]);
    expect(await ended).toMatchObject({ kind: "ended", exitCode: 0 });
  });
});
