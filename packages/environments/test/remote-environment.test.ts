import { createMemoryChannelPair } from "@codex/channel";
import { createWebSocketListener } from "@codex/channel/websocket";
import { createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf } from "../../process-host/test/support.js";
import { createRemoteEnvironment, createWebSocketLink, type EnvironmentState } from "../src/index.js";
import { environmentAt, listen } from "./support.js";

/** An executor on a websocket that names no subprotocol. */
async function listenExecutor(): Promise<{ url: string; channels: () => number }> {
  const backend = createLocalBackend();
  const executor = createExecutor({ backend });
  let channels = 0;
  const listener = await createWebSocketListener({
    host: "127.0.0.1",
    port: 0,
    onChannel: (channel) => {
      channels += 1;
      void executor.serve(channel);
    },
  });
  onTestFinished(async () => {
    await listener.close();
    await executor.close();
    await backend.close();
  });
  return { url: listener.url, channels: () => channels };
}

function openOrchestrator() {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
  onTestFinished(() => orchestrator.close());
  return orchestrator;
}

describe("an environment at an exec-server", () => {
  it("runs processes, reads files and describes its host", async () => {
    const environment = environmentAt(await listen());
    expect([environment.state.status, environment.serves]).toEqual(["disconnected", undefined]);
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const process = await environment.backend.start({ argv: ["echo", "hi"], cwd: "/tmp", env: ENV, stdio });
    expect(await outputOf(process)).toBe("hi\n");
    expect([environment.state.status, environment.serves]).toEqual(["ready", "exec-server"]);
    expect(await environment.info()).toMatchObject({ os: PLATFORM, shell: { path: expect.any(String) } });
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
  });

  it("has its tools attached under its id", async () => {
    const environment = environmentAt(await listen());
    const orchestrator = openOrchestrator();
    expect((await environment.attach(orchestrator)).name).toBe("far");
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({
      text: expect.stringContaining("tool"),
      isError: false,
    });
  });
});

const PLATFORM = process.platform;

describe("an environment at an executor", () => {
  it("is found out over the one connection that then carries its tools", async () => {
    const { url, channels } = await listenExecutor();
    const environment = environmentAt(url);
    const orchestrator = openOrchestrator();
    await environment.attach(orchestrator);
    expect([environment.serves, channels()]).toEqual(["executor", 1]);
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
    await expect(environment.files.readFile("/etc/hostname")).rejects.toMatchObject({
      code: "unsupported",
      environment: "far",
    });
  });
});

describe("connecting", () => {
  it("happens once for all who wait", async () => {
    const url = await listen();
    let opened = 0;
    const inner = createWebSocketLink({ url });
    const environment = createRemoteEnvironment({
      id: "far",
      kind: "websocket",
      link: {
        open(signal) {
          opened += 1;
          return inner.open(signal);
        },
      },
    });
    onTestFinished(() => environment.close());
    const states: EnvironmentState["status"][] = [];
    environment.onStateChange(({ status }) => states.push(status));
    await Promise.all(Array.from({ length: 50 }, () => environment.connect()));
    expect([opened, states]).toEqual([1, ["connecting", "ready"]]);
  });

  it("fails with the reason and without secrets, and is tried again", async () => {
    let isUp = false;
    const environment = createRemoteEnvironment({
      id: "far",
      kind: "websocket",
      link: {
        secrets: ["t0ken"],
        async open() {
          if (!isUp) throw new Error("ws://user:word@host:1/path?key=1 refused t0ken");
          const [channel, far] = createMemoryChannelPair();
          const backend = createLocalBackend();
          void createExecutor({ backend }).serve(far, { resumable: false });
          onTestFinished(() => backend.close());
          return { channel, serves: "executor" };
        },
      },
      random: () => 0,
    });
    onTestFinished(() => environment.close());
    await expect(environment.connect()).rejects.toMatchObject({
      name: "EnvironmentError",
      code: "unreachable",
      message: "environment `far`: ws://host:1/path refused …",
    });
    expect(environment.state).toMatchObject({ status: "failed", reason: "ws://host:1/path refused …" });
    isUp = true;
    await environment.connect();
    expect(environment.state).toEqual({ status: "ready", since: expect.any(Number) });
    await environment.close();
    await expect(environment.connect()).rejects.toMatchObject({ code: "closed" });
  });
});
