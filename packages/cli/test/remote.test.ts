// Hosts that dial out: a rendezvous, executors that register with it, and commands that find them there.
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exec, inTurn } from "./real-client/calls.js";
import { runCodexClient } from "./real-client/client.js";
import { CODEX_BINARY } from "./real-client/support.js";
import { finish, useCommand } from "./support.js";

const { start } = useCommand();
let home = "";
let registry = "";

beforeEach(async () => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-remote-"));
  const rendezvous = start(["rendezvous", "--listen", "http://127.0.0.1:0"], { CODEX_HOME: home });
  [registry] = (await once(createInterface({ input: rendezvous.stdout }), "line")) as [string];
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A host that registers; resolves once it is connected, with the fingerprint of its key. */
async function register(command: "exec-server" | "executor", id = "env-1"): Promise<string> {
  const args = [command, "--remote", registry, "--environment-id", id, "--log-level", "info"];
  const child = start(args, { CODEX_HOME: home, CODEX_API_KEY: "dummy" });
  let fingerprint = "";
  for await (const line of createInterface({ input: child.stderr })) {
    fingerprint = / key (SHA256:\S+)/.exec(line)?.[1] ?? fingerprint;
    if (line.includes("connected to the rendezvous")) break;
  }
  return fingerprint;
}

const run = (args: string[], env: Record<string, string> = {}) => finish(start(args, { CODEX_HOME: home, ...env }));
const noise = () => ({
  CODEX_EXEC_SERVER_NOISE_REGISTRY_URL: registry,
  CODEX_EXEC_SERVER_NOISE_ENVIRONMENT_ID: "env-1",
  CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "dummy-token",
});

it.each(["exec-server", "executor"] as const)("a command runs on an %s that has dialled out", async (command) => {
  await register(command);
  const place = ["--registry", registry, "--environment", "env-1"];
  const ran = await run(["run", ...place, "--", "/bin/sh", "-c", "seq 20000; exit 3"]);
  expect(ran.stderr).toBe("");
  expect(ran.code).toBe(3);
  expect(ran.stdout.toString()).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(""));
});

it("the variables of Codex name the environment; a key that is trusted is the only one", async () => {
  const fingerprint = await register("exec-server");
  expect((await run(["environment", "trust", "remote"], noise())).stdout.toString()).toBe(
    `remote: ${fingerprint} is trusted\n`,
  );
  expect(await run(["run", "--", "echo", "here"], noise())).toMatchObject({ code: 0, stdout: Buffer.from("here\n") });
  const other = `SHA256:${"A".repeat(43)}`;
  await run(["environment", "trust", "remote", other], noise());
  const refused = await run(["run", "--", "echo", "never"], noise());
  expect(refused).toMatchObject({ code: 125, stdout: Buffer.alloc(0) });
  expect(refused.stderr).toContain(`${fingerprint}, not ${other}`);
});

describe("exec-server --remote", () => {
  it.each([
    ["no credential", [], {}, /^Error: no credential for the registry/],
    ["a key for another host", ["--remote", "https://example.com"], { CODEX_API_KEY: "k" }, /not to example\.com/],
    ["a registry without TLS", ["--remote", "http://192.0.2.1"], { CODEX_API_KEY: "k" }, /not to 192\.0\.2\.1/],
    ["no id", ["--environment-id", "a/b"], { CODEX_API_KEY: "k" }, /--environment-id "a\/b" is not valid/],
    ["direct without keys of AWS", ["--remote-transport", "direct"], {}, /need each other/],
    ["a label without value", ["--label", "gpu"], { CODEX_API_KEY: "k" }, /--label "gpu": expected NAME=VALUE/],
  ])("is refused with %s", async (_, args, env, message) => {
    const all = ["exec-server", "--remote", registry, "--environment-id", "env-1", ...args];
    const refused = await run(all, { CODEX_API_KEY: "", ...env });
    expect(refused.stderr).toMatch(message);
    expect(refused.code).not.toBe(0);
  });
});

describe.skipIf(CODEX_BINARY === undefined)("the real client (needs CODEX_BINARY)", () => {
  it("runs a command on an exec-server that has dialled out", async () => {
    await register("exec-server");
    const results: string[] = [];
    const before = { ...process.env };
    Object.assign(process.env, noise());
    try {
      const script = inTurn(
        [exec("echo from $PPID; seq 100000 | tail -1; exit 3", { yield_time_ms: 20_000 })],
        results,
      );
      await runCodexClient(CODEX_BINARY!, script, { cwd: home, sandbox: "danger-full-access" });
    } finally {
      for (const name of Object.keys(noise())) delete process.env[name];
      Object.assign(process.env, before);
    }
    expect(results[0]).toContain("100000");
    expect(results[0]).toContain("Process exited with code 3");
  });
});

it("does not keep running when stdin holds its credential and it is stopped", async () => {
  const args = ["exec-server", "--remote", registry, "--environment-id", "env-1", "--executor-credential-stdin"];
  const child = start([...args, "--log-level", "info"], { CODEX_HOME: home });
  const expires = Math.floor(Date.now() / 1000) + 600;
  child.stdin.write(`${JSON.stringify({ version: 1, environment_id: "env-1", token: "t", expires_at: expires })}\n`);
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes("connected to the rendezvous")) break;
  }
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
});
