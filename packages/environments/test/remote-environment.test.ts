import { existsSync } from "node:fs";
import { createMemoryChannelPair } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";
import { EXEC_SERVER_SUBPROTOCOL } from "@codex/exec-server-protocol";
import { createExecutor, type ExecutorOptions } from "@codex/executor";
import { EXECUTOR_SUBPROTOCOL } from "@codex/executor-protocol";
import { type Approver, type AttachedExecutor, type AttachOptions, createOrchestrator } from "@codex/orchestrator";
import { createSandboxSelector } from "@codex/policy";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import { createCuttingProxy } from "@codex/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf } from "../../process-host/test/support.js";
import {
  createRemoteEnvironment,
  createWebSocketLink,
  type EnvironmentLink,
  type EnvironmentState,
  type OpenedChannel,
} from "../src/index.js";
import { environmentAt, execServer, listen, openExecutor } from "./support.js";

/** An executor on a websocket; closed at the end of the test. */
async function listenExecutor(options: Partial<ExecutorOptions> = {}) {
  const executor = await openExecutor(options);
  onTestFinished(executor.close);
  return executor;
}

function openOrchestrator() {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
  onTestFinished(() => orchestrator.close());
  return orchestrator;
}

describe("an environment on an exec-server", () => {
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

  it("attaches its tools under its id", async () => {
    const environment = environmentAt(await listen());
    const orchestrator = openOrchestrator();
    expect((await environment.attach(orchestrator)).name).toBe("remote");
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({
      text: expect.stringContaining("tool"),
      isError: false,
    });
  });
});

const sandboxes = await createCommandSandbox().getSupport();

describe.runIf(sandboxes.kind === "bubblewrap" && ["nsenter", "curl"].every((name) => existsSync(`/usr/bin/${name}`)))(
  "a managed network on an exec-server",
  () => {
    it("lets a command to what the policy of its orchestrator allows, and tells what else it tried", async () => {
      const environment = environmentAt(await listen(["sandboxedFileStreaming", "networkProxyLaunch"]));
      const network = { rules: [{ pattern: "host.internal:9", decision: "allow" as const }] };
      const sandbox = createSandboxSelector({ mode: "workspace-write", networkAccess: true });
      const policy = { approvalPolicy: "never", sandbox, network } as const;
      const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "bash", cwd: "/var/tmp" } });
      onTestFinished(() => orchestrator.close());
      await environment.attach(orchestrator);
      const cmd = "curl -sSp http://host.internal:9/; curl -s -o /dev/null -w '%{http_code}' http://other.example/";
      const { text } = await orchestrator.callTool("exec_command", { cmd });
      // Nothing listens at port 9: it was tried.
      expect(text).toContain("response 502\n403");
      expect(text).toContain("Network: other.example:80 denied (no rule allows it)");
    });
  },
);

const PLATFORM = process.platform;

describe("an environment on an executor", () => {
  it("is detected over the same connection that then carries its tools", async () => {
    const { url, channels } = await listenExecutor();
    const environment = environmentAt(url);
    const orchestrator = openOrchestrator();
    await environment.attach(orchestrator);
    expect([environment.serves, channels()]).toEqual(["executor", 1]);
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
    expect(await environment.info()).toMatchObject({ os: PLATFORM, cwd: process.cwd() });
    expect(channels()).toBe(1);
    const other = openOrchestrator();
    await environment.attach(other);
    expect(channels()).toBe(2);
    await expect(environment.files.readFile("/etc/hostname")).rejects.toMatchObject({
      code: "unsupported",
      environment: "remote",
      message: expect.stringContaining("it has no exec-server"),
    });
  });

  it("has files and processes if the executor serves them, over the connection of its tools", async () => {
    const { url, channels } = await listenExecutor({ execServer });
    const environment = environmentAt(url);
    await environment.attach(openOrchestrator());
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const process = await environment.backend.start({ argv: ["echo", "hi"], cwd: "/tmp", env: ENV, stdio });
    expect(await outputOf(process)).toBe("hi\n");
    expect(channels()).toBe(1);
  });

  it("has them without an orchestrator, and describes its host", async () => {
    const { url, channels } = await listenExecutor({ execServer });
    const environment = environmentAt(url);
    expect(await environment.info()).toMatchObject({ os: PLATFORM, shell: { path: expect.any(String) } });
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
    expect(channels()).toBe(1);
    const orchestrator = openOrchestrator();
    await environment.attach(orchestrator);
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
  });
});

describe("what is served at an address", () => {
  /** The first message that an environment sends to a listener, which then hangs up. */
  async function firstMessageTo(subprotocols: readonly string[]): Promise<unknown> {
    let resolve: (value: unknown) => void;
    const first = new Promise((settle) => {
      resolve = settle;
    });
    const listener = await createWebSocketListener({
      subprotocols,
      onChannel: async (channel) => {
        const received = await channel.receive();
        resolve(received?.kind === "value" ? received.value : received);
        await channel.close();
      },
    });
    onTestFinished(() => listener.close());
    const environment = environmentAt(listener.url, { initializeTimeoutMs: 2_000 });
    await Promise.race([first, environment.info().catch(() => {})]);
    return first;
  }

  it("is named by the subprotocol of the websocket: an executor gets no message of another protocol", async () => {
    expect(await firstMessageTo([EXECUTOR_SUBPROTOCOL])).toMatchObject({ type: "initialize" });
  });

  it("is found out by the first response where the listener names none", async () => {
    expect(await firstMessageTo([])).toMatchObject({ method: "initialize" });
  });

  it.each([
    ["an executor that names itself", [EXECUTOR_SUBPROTOCOL]],
    ["an executor whose listener takes whatever is offered first", [EXEC_SERVER_SUBPROTOCOL, EXECUTOR_SUBPROTOCOL]],
  ])("%s is an executor", async (_, subprotocols) => {
    const executor = await openExecutor({ execServer }, subprotocols);
    onTestFinished(executor.close);
    const environment = environmentAt(executor.url);
    await environment.attach(openOrchestrator());
    expect(environment.serves).toBe("executor");
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
  });

  it("is an exec-server for one of this project, which names itself", async () => {
    const url = await listen();
    const channel = await connectWebSocketChannel(url, {
      subprotocols: [EXECUTOR_SUBPROTOCOL, EXEC_SERVER_SUBPROTOCOL],
    });
    onTestFinished(() => channel.close());
    expect(channel.subprotocol).toBe(EXEC_SERVER_SUBPROTOCOL);
    const environment = environmentAt(url);
    await environment.connect();
    expect(environment.serves).toBe("exec-server");
  });
});

describe("environments that were added to an orchestrator", () => {
  it("are connected by the first call, and run nothing elsewhere if one is down", async () => {
    const { url } = await listenExecutor();
    const orchestrator = openOrchestrator();
    const tools = environmentAt(url, { id: "tools" });
    const server = environmentAt(await listen(), { id: "server" });
    const down = environmentAt("ws://me:secret@127.0.0.1:9/?token=hidden", { id: "down" });
    for (const environment of [down, tools, server]) orchestrator.addEnvironment(environment);
    expect(orchestrator.listEnvironments()).toEqual([
      { id: "down", primary: true, status: "disconnected" },
      { id: "tools", primary: false, status: "disconnected" },
      { id: "server", primary: false, status: "disconnected" },
    ]);
    for (const id of ["tools", "server"]) {
      const result = await orchestrator.callTool("exec_command", { cmd: "echo tool", environment_id: id });
      expect(result).toMatchObject({ status: "success", environment: id, text: expect.stringContaining("tool\n") });
    }
    const refused = await orchestrator.callTool("exec_command", { cmd: "echo tool" });
    expect(refused).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    expect(refused.text).toMatch(/^Environment `down` cannot be used: .*Nothing was run\.$/);
    const [described, ...others] = orchestrator.listEnvironments();
    expect(described).toMatchObject({ id: "down", status: "failed", reason: expect.any(String) });
    expect(others).toMatchObject([
      { status: "ready", os: PLATFORM },
      { status: "ready", os: PLATFORM },
    ]);
    expect(JSON.stringify([refused, described])).not.toMatch(/secret|hidden/);
  });
});

describe("environments with different rules", () => {
  it("have the ceiling of their executor, the policy and the approver that was added with them, who reads which it is", async () => {
    const asked: string[] = [];
    const approver = (name: string): Approver => ({
      async requestApproval({ environment, command }) {
        asked.push(`${name}: ${environment}: ${command.join(" ")}`);
        return environment === "asks" ? "accept" : "decline";
      },
    });
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
    const orchestrator = createOrchestrator({
      policy,
      defaults: { login: false, shell: "/bin/sh" },
      approver: approver("common"),
    });
    onTestFinished(() => orchestrator.close());
    const open = await listenExecutor();
    const held = await listenExecutor({ ceiling: { roots: ["/usr"] } });
    orchestrator.addEnvironment(environmentAt(open.url, { id: "open" }));
    orchestrator.addEnvironment(environmentAt(held.url, { id: "held" }));
    const untrusted = { ...policy, approvalPolicy: "untrusted" } as const;
    orchestrator.addEnvironment(environmentAt(open.url, { id: "asks" }), { policy: untrusted });
    orchestrator.addEnvironment(environmentAt(open.url, { id: "refuses" }), {
      policy: untrusted,
      approver: approver("own"),
    });
    const run = async (environment_id: string, workdir = "/tmp") => {
      const args = { cmd: "awk 'BEGIN { print 6 * 7 }'", workdir, environment_id };
      const { status, text } = await orchestrator.callTool("exec_command", args);
      return [status, /\b42\b/.test(text) || text];
    };
    expect(await run("open")).toEqual(["success", true]);
    expect(await run("held")).toEqual(["error", expect.stringContaining("/tmp")]);
    expect(await run("held", "/usr")).toEqual(["success", true]);
    expect(asked).toEqual([]);
    expect(await run("asks")).toEqual(["success", true]);
    expect((await run("refuses"))[0]).toBe("denied");
    expect(asked).toEqual([
      expect.stringMatching(/^common: asks: .*awk/),
      expect.stringMatching(/^own: refuses: .*awk/),
    ]);
  });
});

describe("an executor whose orchestrator is closed", () => {
  it("is disconnected, without a reason, and connected again by its next use", async () => {
    const { url } = await listenExecutor({ execServer });
    const environment = environmentAt(url);
    const states: EnvironmentState[] = [];
    environment.onStateChange((state) => states.push(state));
    const orchestrator = openOrchestrator();
    await environment.attach(orchestrator);
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
    await orchestrator.close();
    await expect.poll(() => environment.state.status).toBe("disconnected");
    const other = openOrchestrator();
    await environment.attach(other);
    expect(await other.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
    expect(states.map(({ status, reason }) => [status, reason])).toEqual([
      ["connecting", undefined],
      ["ready", undefined],
      ["disconnected", undefined],
      ["connecting", undefined],
      ["ready", undefined],
    ]);
  });

  it("keeps its files, over a channel of their own, and is not reported as lost", async () => {
    const { url } = await listenExecutor({ execServer });
    const environment = environmentAt(url);
    const orchestrator = openOrchestrator();
    await environment.attach(orchestrator);
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
    const states: EnvironmentState[] = [];
    environment.onStateChange((state) => states.push(state));
    await orchestrator.close();
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
    expect(states).toEqual([]);
  });

  it("is failed, with the reason, where it is the executor that has ended", async () => {
    const executor = await openExecutor({ resumeGraceMs: 200 });
    const environment = environmentAt(executor.url);
    await environment.attach(openOrchestrator());
    const failed = new Promise<EnvironmentState>((resolve) =>
      environment.onStateChange((state) => state.status === "failed" && resolve(state)),
    );
    await executor.close();
    expect((await failed).reason).toEqual(expect.any(String));
  });
});

describe("an executor that is lost", () => {
  it("is reported to its orchestrator, and so to a model, without the secrets of its address", async () => {
    const [channel] = createMemoryChannelPair();
    let opened = 0;
    const environment = createRemoteEnvironment({
      id: "remote",
      kind: "websocket",
      link: {
        secrets: ["t0ken"],
        async open() {
          opened += 1;
          if (opened > 1) throw new Error("ws://me:word@host/?key=1 refused t0ken");
          return { channel, serves: "executor" };
        },
      },
    });
    onTestFinished(() => environment.close());
    const given: AttachOptions[] = [];
    // Nothing else of it is used.
    const [ended, close] = [new Promise<never>(() => {}), async () => {}];
    const attached = { name: "remote", offlineReason: undefined, ended, close } as unknown as AttachedExecutor;
    await environment.attach({
      async attach(options) {
        given.push(options);
        return attached;
      },
    });
    const reconnecting = given[0]?.reconnect?.(new AbortController().signal);
    await expect(reconnecting).rejects.toThrow(/^ws:\/\/host\/ refused …$/);
  });
});

describe("an environment on an executor that is not attached", () => {
  it("describes its host", async () => {
    const { url, channels } = await listenExecutor();
    const environment = environmentAt(url);
    expect(await environment.info()).toMatchObject({ os: PLATFORM, shell: { path: expect.any(String) } });
    expect(channels()).toBe(1);
  });
});

describe("connecting", () => {
  it("happens once for concurrent callers", async () => {
    const url = await listen();
    let opened = 0;
    const inner = createWebSocketLink({ url });
    const environment = createRemoteEnvironment({
      id: "remote",
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

  it.each(["exec-server", "executor"] as const)(
    "is one connection to an %s for 50 users of all that it has",
    async (kind) => {
      const target = kind === "executor" ? (await listenExecutor({ execServer })).url : await listen();
      const proxy = await createCuttingProxy(target);
      onTestFinished(() => proxy.close());
      const environment = environmentAt(proxy.url);
      const orchestrator = openOrchestrator();
      orchestrator.addEnvironment(environment);
      if (kind === "executor") await environment.attach(orchestrator);
      const stdio = { kind: "pipe", stdin: "null" } as const;
      const uses = [
        () => environment.connect(),
        () => environment.info(),
        () => environment.files.getMetadata("/"),
        async () => outputOf(await environment.backend.start({ argv: ["echo", "hi"], cwd: "/", env: ENV, stdio })),
        () => orchestrator.callTool("exec_command", { cmd: "echo tool" }),
      ];
      const results = await Promise.all(Array.from({ length: 50 }, (_, at) => uses[at % uses.length]!()));
      expect(results.filter((result) => result === "hi\n")).toHaveLength(10);
      expect(
        results.filter((result) => (result as { status?: string } | undefined)?.status === "success"),
      ).toHaveLength(10);
      expect(proxy.connections).toBe(1);
    },
  );

  it("fails with the reason and without secrets, and is tried again", async () => {
    let isUp = false;
    const environment = createRemoteEnvironment({
      id: "remote",
      kind: "websocket",
      link: {
        secrets: ["t0ken"],
        async open() {
          if (!isUp) throw new Error("ws://user:word@host:1/path?key=1 refused t0ken");
          const [channel, remote] = createMemoryChannelPair();
          const backend = createLocalBackend();
          void createExecutor({ backend }).serve(remote, { resumable: false });
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
      message: "environment `remote`: ws://host:1/path refused …",
    });
    expect(environment.state).toMatchObject({ status: "failed", reason: "ws://host:1/path refused …" });
    isUp = true;
    await environment.connect();
    expect(environment.state).toEqual({ status: "ready", since: expect.any(Number) });
    await environment.close();
    await expect(environment.connect()).rejects.toMatchObject({ code: "closed" });
  });
});

describe("an environment that is closed", () => {
  it.each([
    ["an executor", () => listenExecutor().then(({ url }) => url)],
    ["an exec-server", () => listen()],
  ])("ends the sessions at %s, and nothing runs through it any more", async (_name, open) => {
    const environment = environmentAt(await open());
    const orchestrator = openOrchestrator();
    orchestrator.addEnvironment(environment);
    const { text } = await orchestrator.callTool("exec_command", { cmd: "echo $$; exec sleep 60", yield_time_ms: 300 });
    const pid = Number(/^\d+$/m.exec(text)?.[0]);
    expect(isAlive(pid)).toBe(true);
    await environment.close();
    expect([isAlive(pid), environment.state.status]).toEqual([false, "disconnected"]);
    expect(await orchestrator.callTool("exec_command", { cmd: "echo after" })).toMatchObject({
      status: "error",
      text: "Environment `remote` cannot be used: environment `remote`: it was closed. Nothing was run.",
    });
    expect(environment.state.status).toBe("disconnected");
  });

  it("ends an attempt to connect that ignores its signal, and closes what it opens later", async () => {
    let finish = (_opened: OpenedChannel) => {};
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const link: EnvironmentLink = {
      open: () => {
        begin();
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    };
    const environment = createRemoteEnvironment({ id: "slow", kind: "websocket", link });
    const orchestrator = openOrchestrator();
    const attaching = environment.attach(orchestrator);
    const refused = expect(attaching).rejects.toMatchObject({ code: "closed" });
    await begun;
    await environment.close();
    await refused;
    const [late] = createMemoryChannelPair();
    finish({ channel: late, serves: "executor" });
    expect(await late.closed).toEqual({ kind: "closed" });
    expect(orchestrator.executors).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
