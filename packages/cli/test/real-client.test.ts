import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCodexClient, type Turn } from "./scripted-model.js";
import { useCommand } from "./support.js";

const binary = process.env.CODEX_BINARY;
const exec =
  (cmd: string, more: object = {}): Turn =>
  () => ({ name: "exec_command", args: { cmd, login: false, ...more } });
const lastSession = (results: string[]) => Number(/session ID (\d+)/.exec(results.at(-1) ?? "")?.[1]);

describe.skipIf(binary === undefined)("the real Codex client on our exec-server (needs CODEX_BINARY)", () => {
  const command = useCommand();
  let directory: string;
  let url: string;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "codex-work-"));
    const server = command.start(["exec-server"]);
    [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const run = (turns: readonly Turn[], address = url) => runCodexClient(binary!, address, directory, turns);

  it("runs commands, types into shells, interrupts and reads instructions", async () => {
    writeFileSync(join(directory, "AGENTS.md"), "marker-of-the-instructions\n");
    let session = 0;
    const type =
      (chars: string, yieldMs = 600): Turn =>
      () => ({
        name: "write_stdin",
        args: { session_id: session, chars, yield_time_ms: yieldMs },
      });
    const { results, firstRequest } = await run([
      exec("echo out; echo err >&2; exit 3"),
      exec("bash --norc -i", { tty: true, yield_time_ms: 800 }),
      (so_far) => {
        session = lastSession(so_far);
        return type("export X=7; echo v=$X\n")(so_far);
      },
      type("sleep 100\n", 300),
      type("\u0003"),
      type("echo rc=$?; exit 4\n", 2_000),
      exec("sleep 100", { yield_time_ms: 300 }),
      (so_far) => ({
        name: "write_stdin",
        args: { session_id: lastSession(so_far), chars: "\u0003", yield_time_ms: 3_000 },
      }),
    ]);
    expect(firstRequest).toContain("marker-of-the-instructions");
    expect(results[0]).toMatch(/code 3\n.*out\nerr/s);
    expect(results[2]).toContain("v=7");
    expect(results[5]).toMatch(/code 4\n.*rc=130/s);
    expect(results[7]).toContain("code 130");
  });

  it("patches files", async () => {
    writeFileSync(join(directory, "old.txt"), "one\ntwo\n");
    const patch =
      "*** Begin Patch\n*** Update File: old.txt\n@@\n one\n-two\n+TWO\n*** Add File: new/n.txt\n+hello\n*** End Patch";
    await run([exec(`apply_patch <<'EOF'\n${patch}\nEOF`)]);
    expect(readFileSync(join(directory, "old.txt"), "utf8")).toBe("one\nTWO\n");
    expect(existsSync(join(directory, "new", "n.txt"))).toBe(true);
  });

  it("survives a cut connection without losing or repeating a line", async () => {
    mkdirSync(join(directory, "empty"));
    const proxy = await openProxy(url);
    const { results } = await run(
      [
        exec("for i in $(seq 30); do echo line$i; sleep 0.1; done", { yield_time_ms: 500 }),
        (so_far) => {
          proxy.cut();
          return { name: "write_stdin", args: { session_id: lastSession(so_far), chars: "", yield_time_ms: 8_000 } };
        },
      ],
      proxy.url,
    );
    proxy.close();
    const lines = results.join("\n").match(/line\d+/g);
    expect(lines).toEqual(Array.from({ length: 30 }, (_, index) => `line${index + 1}`));
  });
});

/** Passes a connection on, and can break all of them. */
async function openProxy(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const close = () => {
    cut();
    server.close();
  };
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, close };
}
