import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createMemoryChannelPair } from "@codex/channel";
import { communicate, createRemoteBackend } from "@codex/exec-server-client";
import { createExecutor } from "@codex/executor";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it } from "vitest";
import {
  attach,
  closeAfterTest,
  connectClient,
  createDirectory,
  createHost,
  listenBehindProxy,
  TRANSPORTS,
} from "./support.js";

const MIB = 1024 * 1024;
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe.each(TRANSPORTS)("files and HTTP of an executor over $name", ({ open }) => {
  it("work beside a tool call with much output, and lose nothing", { timeout: 60_000 }, async () => {
    const directory = createDirectory();
    const { orchestrator, attached } = await attach(await open(createHost()));
    expect(attached.servesFiles).toBe(true);
    const client = await connectClient(attached);
    const flood = "head -c 60000000 /dev/zero | tr '\\0' f";
    let flooded = 0;
    const count = ({ bytes }: { bytes: Uint8Array }) => {
      flooded += bytes.length;
    };
    const call = orchestrator.callTool(
      "exec_command",
      { cmd: flood, yield_time_ms: 30_000, login: false },
      { onOutput: count },
    );
    const written = randomBytes(20 * MIB);
    const path = join(directory, "twenty megabytes");
    await client.fileSystem.writeFile(path, written);
    expect(digest(readFileSync(path))).toBe(digest(written));
    expect(digest(await client.fileSystem.readFile(path))).toBe(digest(written));
    mkdirSync(join(directory, "below"));
    const entries = await client.fileSystem.readDirectory(directory);
    expect(entries.map(({ fileName }) => fileName).sort()).toEqual(["below", "twenty megabytes"]);

    const server = createServer((_, response) => {
      response.writeHead(200, { "x-test": "yes" });
      for (let n = 0; n < 64; n++) response.write(Buffer.alloc(64 * 1024, n));
      response.end();
    });
    closeAfterTest(() => server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { status, headers, body } = await client.http.stream({ url: `http://127.0.0.1:${port}/` });
    expect([status, headers.find(({ name }) => name === "x-test")?.value]).toEqual([200, "yes"]);
    let at = 0;
    for await (const bytes of body) {
      expect(bytes.every((byte, index) => byte === Math.floor((at + index) / 65_536))).toBe(true);
      at += bytes.length;
    }
    expect(at).toBe(4 * MIB);

    const result = await call;
    expect(result).toMatchObject({ status: "success", structured: { outcome: { kind: "exited", code: 0 } } });
    expect(flooded).toBe(60_000_000);
  });

  it("do not delay a tool call when their client does not read", async () => {
    const directory = createDirectory();
    const path = join(directory, "large");
    writeFileSync(path, Buffer.alloc(8 * MIB, "x"));
    const { orchestrator, attached } = await attach(await open(createHost()));
    const channel = await attached.openExecServer();
    await channel.send({ id: 1, method: "initialize", params: { clientName: "test" } });
    expect(await channel.receive()).toMatchObject({ value: { id: 1, result: {} } });
    await channel.send({ method: "initialized", params: {} });
    for (let id = 2; id < 6; id++)
      await channel.send({ id, method: "fs/readFile", params: { path: `file://${encodeURI(path)}` } });
    // Nobody receives the four files: the tools go on.
    for (let n = 0; n < 5; n++) {
      const { text } = await orchestrator.callTool("exec_command", { cmd: `echo call ${n}`, login: false });
      expect(text).toContain(`call ${n}\n`);
    }
    for (let id = 2; id < 6; id++) {
      const received = await channel.receive();
      expect(received).toMatchObject({ kind: "value", bytes: expect.any(Number) });
      expect(received?.kind === "value" && Number(received.bytes)).toBeGreaterThan(8 * MIB);
    }
    await channel.close();
  });
});

describe("a tunnel to the exec-server of an executor", () => {
  it("ends with its channel; a client continues over another, and no line of a program is lost or repeated", {
    timeout: 60_000,
  }, async () => {
    const directory = createDirectory();
    const { proxy, options } = await listenBehindProxy(createHost());
    const { orchestrator, attached } = await attach(options);
    const client = await connectClient(attached);
    const backend = createRemoteBackend(client);
    closeAfterTest(() => backend.close());
    const script = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i; done";
    const process = await backend.start({
      argv: ["/bin/sh", "-c", script],
      cwd: "/",
      env: {},
      stdio: { kind: "pipe", stdin: "null" },
    });
    const large = randomBytes(8 * MIB);
    const path = join(directory, "file");
    writeFileSync(path, large);
    const call = orchestrator.callTool("exec_command", { cmd: "sleep 0.5; echo tool", login: false });
    proxy.cutAfterReceived(2 * MIB);
    const [read, text] = await Promise.all([
      client.fileSystem.readFile(path),
      communicate(process).then(({ stdout }) => stdout.toString()),
    ]);
    expect(digest(read)).toBe(digest(large));
    expect(text).toBe(Array.from({ length: 3000 }, (_, n) => `line ${n + 1}\n`).join(""));
    expect((await call).text).toContain("tool\n");
    expect(proxy.connections).toBe(2);
  });

  it("is refused with a reason where a ceiling restricts the executor", async () => {
    for (const ceiling of [
      { mode: "workspace-write", roots: ["/tmp"] },
      { roots: ["/tmp"] },
      { network: false },
    ] as const) {
      const host = createHost({ ceiling });
      const { attached } = await attach(await TRANSPORTS[0].open(host));
      expect(attached.servesFiles).toBe(false);
      await expect(attached.openExecServer()).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/`far`.*offers tools only.*ceiling/),
      });
      expect(host.created).toBe(0);
    }
    const { attached } = await attach(
      await TRANSPORTS[0].open(createHost({ ceiling: { mode: "danger-full-access" } })),
    );
    await (await attached.openExecServer()).close();
  });

  it("is unsupported where the executor has no exec-server, or supports only the base messages", async () => {
    const backend = createLocalBackend();
    closeAfterTest(() => backend.close());
    const [ours, theirs] = createMemoryChannelPair();
    void createExecutor({ backend }).serve(theirs);
    const { attached } = await attach({ channel: ours });
    await expect(attached.openExecServer()).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/it has no exec-server/),
    });
    const base = await attach({ ...(await TRANSPORTS[0].open(createHost())), initialize: false });
    await expect(base.attached.openExecServer()).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/supports only the base messages/),
    });
  });

  it("is one of at most eight; the exec-server ends with its processes when the orchestrator disconnects", async () => {
    const directory = createDirectory();
    const host = createHost();
    const { orchestrator, attached } = await attach(await TRANSPORTS[0].open(host));
    const client = await connectClient(attached);
    const backend = createRemoteBackend(client);
    const pidFile = join(directory, "pid");
    const script = `echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; echo up; exec sleep 1000`;
    const started = await backend.start({
      argv: ["/bin/sh", "-c", script],
      cwd: "/",
      env: {},
      stdio: { kind: "pipe", stdin: "null" },
    });
    for await (const _ of started.log.follow()) break;
    expect(existsSync(pidFile)).toBe(true);
    const more = await Promise.all(Array.from({ length: 7 }, () => attached.openExecServer()));
    await expect(attached.openExecServer()).rejects.toMatchObject({
      message: expect.stringMatching(/8 tunnels to the exec-server are open \(limit 8 tunnels\)/),
    });
    await more[0]?.close();
    // Its place is free once the server is done with it.
    for (let place = false; !place; ) {
      place = await attached.openExecServer().then(
        () => true,
        () => false,
      );
    }
    await orchestrator.close();
    await host.executor.close();
    expect([host.created, host.closed]).toEqual([1, 1]);
    const pid = Number(readFileSync(pidFile, "utf8"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("ends with the reason when the exec-server cannot be created, which is retried the next time", async () => {
    let attempts = 0;
    const host = createHost({
      execServer() {
        attempts += 1;
        throw new Error("no room for it");
      },
    });
    const { attached } = await attach(await TRANSPORTS[0].open(host));
    for (let n = 1; n <= 2; n++) {
      const channel = await attached.openExecServer();
      expect(await channel.closed).toMatchObject({
        kind: "peer_closed",
        detail: expect.stringContaining("no room for it"),
      });
      expect(attempts).toBe(n);
    }
    expect(attached.problemCount).toBe(0);
  });

  it("rejects a message for a tunnel that was never opened, and one before initialization", async () => {
    const { executor } = createHost();
    const [ours, theirs] = createMemoryChannelPair();
    void executor.serve(theirs);
    closeAfterTest(() => ours.close());
    await ours.send({ type: "exec_server", tunnel: 3, data: "{}" });
    expect(await ours.receive()).toMatchObject({ value: { type: "error", message: "tunnel 3 was not opened" } });
    await ours.send({ type: "open_exec_server", requestId: "r", tunnel: 1, windowBytes: 4096 });
    expect(await ours.receive()).toMatchObject({
      value: { type: "error", requestId: "r", message: "`initialize` must be sent first" },
    });
  });
});
