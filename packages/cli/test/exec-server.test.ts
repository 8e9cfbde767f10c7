import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Channel, Peer } from "@codex/channel";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { describe, expect, it } from "vitest";
import { finish, useCommand } from "./support.js";

const startParams = (processId: string, argv: string[]) => ({
  processId,
  argv,
  cwd: "file:///tmp",
  env: { PATH: "/usr/bin:/bin" },
  tty: false,
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("codex exec-server", () => {
  const command = useCommand();

  const listen = async (...args: string[]) => {
    const child = command.start(["exec-server", ...args]);
    const finished = finish(child);
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { child, url, finished };
  };
  const connect = async (channel: Channel) => {
    const events: string[] = [];
    const notifications = new Map(
      ["process/output", "process/exited", "process/closed"].map((name) => [name, () => void events.push(name)]),
    );
    const peer = new Peer(channel, { notifications });
    await peer.request("initialize", { clientName: "test", resumeSessionId: null });
    await peer.notify("initialized", {});
    return { peer, events };
  };

  it("listens on loopback, says where, and ends with its processes at a signal", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, url, finished } = await listen();
      expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
      const { peer } = await connect(await connectWebSocketChannel(url));
      await peer.request("process/start", startParams("p", ["sh", "-c", 'trap "" TERM; sleep 600']));
      const { processes } = (await peer.request("process/list")) as { processes: { pid: number }[] };
      child.kill(signal);
      expect(await finished).toMatchObject({ code: 0, signal: null, stdout: Buffer.from(`${url}\n`), stderr: "" });
      expect(isThere(processes[0]!.pid)).toBe(false);
      await peer.close({ deadlineMs: 0 });
    }
  });

  it("takes a signal as soon as it says where it listens", async () => {
    const { child, finished } = await listen();
    child.kill("SIGTERM");
    expect((await finished).code).toBe(0);
  });

  it("does not let its heap grow with the processes that it starts", async () => {
    const directory = mkdtempSync(join(tmpdir(), "heap-"));
    try {
      const file = join(directory, "megabytes");
      const fixture = fileURLToPath(new URL("programs/heap-at-exit.cjs", import.meta.url));
      const env = { NODE_OPTIONS: `--require ${JSON.stringify(fixture)}`, HEAP_FILE: file };
      const child = command.start(["exec-server"], env);
      const finished = finish(child);
      const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const { peer } = await connect(await connectWebSocketChannel(url));
      const ids = Array.from({ length: 300 }, (_, index) => `p${index}`);
      await Promise.all(ids.map((id) => peer.request("process/start", startParams(id, ["sleep", "600"]))));
      await peer.close({ deadlineMs: 0 });
      child.kill("SIGTERM");
      await finished;
      // Left to itself, V8 has grown it to 16 MB by now, and goes on to 32.
      expect(Number(readFileSync(file, "utf8"))).toBeLessThanOrEqual(8);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("serves one client on stdio until its input ends", async () => {
    const input = [
      { id: 1, method: "initialize", params: { clientName: "x", resumeSessionId: null } },
      { method: "initialized" },
      { id: 2, method: "process/start", params: startParams("p", ["sleep", "600"]) },
      { id: 3, method: "process/list" },
    ];
    const text = input.map((message) => JSON.stringify(message)).join("\n");
    const { code, stdout, stderr } = await command.run(["exec-server", "--listen", "stdio"], text);
    const answers = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; result: { processes?: { pid: number }[] } });
    expect([code, stderr, answers.map(({ id }) => id).sort()]).toEqual([0, "", [1, 2, 3]]);
    for (const { pid } of answers.flatMap(({ result }) => result.processes ?? [])) expect(isThere(pid)).toBe(false);
  });

  it("ends at a signal on stdio too, though its input does not", async () => {
    const child = command.start(["exec-server", "--listen", "stdio://"]);
    const finished = finish(child);
    child.stdin.write('{"id":1,"method":"initialize","params":{"clientName":"x"}}\n');
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("lets in who has the token", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex-exec-server-"));
    const file = join(directory, "token");
    writeFileSync(file, "secret\n");
    const { url } = await listen(
      "--ws-auth",
      "capability-token",
      "--ws-token-file",
      file,
      "--concurrent-requests",
      "8",
    );
    await expect(connectWebSocketChannel(url)).rejects.toThrow(/401.*missing websocket bearer token/);
    const { peer } = await connect(await connectWebSocketChannel(url, { headers: { authorization: "Bearer secret" } }));
    await peer.close();
    rmSync(directory, { recursive: true });
  });

  it.each([
    [["--listen", "ws://localhost:0"], 1, "Error: invalid websocket --listen URL `ws://localhost:0`"],
    [["--listen", ""], 1, "Error: unsupported --listen URL ``"],
    [["--listen", "ws://0.0.0.0:0"], 1, "Error: 0.0.0.0 can be reached from other machines"],
    [["--ws-token-file", "x"], 1, "Error: websocket auth flags require `--ws-auth capability-token`"],
    [
      ["--listen", "stdio", "--ws-auth", "capability-token", "--ws-token-sha256", "0".repeat(64)],
      1,
      "Error: WebSocket auth requires a WebSocket listener, not stdio",
    ],
    [["--ws-auth", "magic"], 2, "magic"],
    [["--concurrent-requests", "0"], 2, "--concurrent-requests"],
    [["--ws-max-clock-skew-seconds", "-5"], 2, "--ws-max-clock-skew-seconds"],
    [["surplus"], 2, "too many arguments"],
  ])("refuses %j", async (args, code, problem) => {
    const result = await command.run(["exec-server", ...args]);
    expect([result.code, result.stdout.toString()]).toEqual([code, ""]);
    expect(result.stderr).toContain(problem);
  });

  it("names an address that is in use", async () => {
    const { url } = await listen();
    const { code, stderr } = await command.run(["exec-server", "--listen", url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Error: .*the address is in use/);
  });
});
