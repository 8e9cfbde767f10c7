// Shared by the benches: executors over each channel, a bare client, and the arithmetic.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createMemoryChannelPair, createStdioChannel } from "@codex/channel";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createExecutor } from "@codex/executor";
import { decodeOutputHead } from "@codex/executor-protocol";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";

export const codex = fileURLToPath(new URL("../packages/cli/dist/codex.js", import.meta.url));
export const CHANNELS = ["memory", "stdio", "websocket"];

/** An executor over a kind of channel, and a client that sends calls as they are. */
export async function openClient(kind, { live = true } = {}) {
  const { channel, close } = await open(kind);
  const client = createClient(channel);
  if (live) {
    channel.binary.accept();
    // As the orchestrator does.
    const terms = { acknowledges: true, flowControl: true, binaryOutput: true };
    const answer = await client.request({ type: "initialize", clientName: "bench", protocolVersion: "1", ...terms });
    client.acknowledgeEvery(answer.ackBytes);
  }
  return { ...client, close };
}

/** The same kinds with an orchestrator in front, as a program uses it: `run(argv, { tty }, onOutput)` is a RunningCommand. */
export async function openOrchestrator(kind) {
  const { channel, close } = await open(kind);
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "bench", channel: Promise.resolve(channel) });
  return {
    run: (argv, more, onOutput = () => {}) =>
      orchestrator.runCommand({ argv, cwd: EXEC.cwd, env: EXEC.env, ...more }, { onOutput }),
    close: () => Promise.all([orchestrator.close(), close()]),
  };
}

async function open(kind) {
  if (kind === "memory") {
    const [ours, its] = createMemoryChannelPair();
    const backend = createLocalBackend();
    const served = createExecutor({ backend }).serve(its, { resumable: false });
    return {
      channel: ours,
      close: async () => {
        await ours.close();
        await served;
        await backend.close();
      },
    };
  }
  if (kind === "stdio") {
    const child = spawn(process.execPath, [codex, "executor"], { stdio: ["pipe", "pipe", "inherit"] });
    const channel = createStdioChannel({ input: child.stdout, output: child.stdin });
    return { channel, close: () => Promise.all([channel.close(), once(child, "exit")]), pid: child.pid };
  }
  const child = spawn(process.execPath, [codex, "executor", "--listen", "ws://127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  const channel = await connectWebSocketChannel(String(line).trim());
  return {
    channel,
    close: async () => {
      await channel.close();
      child.kill();
      await once(child, "exit");
    },
  };
}

function createClient(channel) {
  const waiting = new Map();
  let onOutput = () => {};
  let next = 0;
  let ackBytes = Number.POSITIVE_INFINITY;
  let unacknowledged = 0;
  const takeBytes = ({ head, at, bytes }) => {
    const { processId, offset, requestId, stream } = decodeOutputHead(head);
    onOutput({ type: "tool_output", requestId, processId, stream, bytes });
    unacknowledged += bytes.length;
    if (unacknowledged < ackBytes) return;
    unacknowledged = 0;
    void channel.send({ type: "ack", output: [{ processId, offset: offset + at + bytes.length }] });
  };
  void (async () => {
    for (let received = await channel.receive(); received !== undefined; received = await channel.receive()) {
      if (received.kind === "bytes") {
        takeBytes(received);
        continue;
      }
      const message = received.value;
      if (message.type === "tool_output") onOutput(message);
      else waiting.get(message.requestId)?.(message);
    }
  })();
  const request = (body) =>
    new Promise((resolve) => {
      const requestId = `r${next++}`;
      waiting.set(requestId, (message) => {
        waiting.delete(requestId);
        resolve(message);
      });
      void channel.send({ ...body, requestId });
    });
  const call = async (toolName, args) => {
    const { outcome, message } = await request({ type: "call_tool", toolName, arguments: args });
    if (outcome?.status !== "success") throw new Error(outcome?.message ?? message);
    return outcome.structured;
  };
  return {
    request,
    call,
    exec: (command, more = {}) => call("exec_command", { ...EXEC, command, ...more }),
    cancel: (requestId) => channel.send({ type: "cancel_tool", requestId }),
    acknowledgeEvery: (bytes) => {
      ackBytes = bytes;
    },
    follow: (listener) => {
      onOutput = listener;
    },
    channel,
  };
}

const EXEC = {
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
  tty: false,
  yieldTimeMs: 60_000,
  maxOutputTokens: 1000,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  additionalPermissionsPreapproved: false,
  justification: null,
  execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: null } },
};

export const median = (values) => quantile(values, 0.5);
export const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)];

/** Runs the subjects in turns, so that noise of the machine meets all of them alike. Milliseconds each. */
export async function interleave(subjects, rounds) {
  const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(subjects)) {
      const start = performance.now();
      const own = await run();
      times[name].push(typeof own === "number" ? own : performance.now() - start);
    }
  }
  return times;
}

export function printTable(title, rows) {
  console.log(`\n${title}`);
  console.table(rows);
}
