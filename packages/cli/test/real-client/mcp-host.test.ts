import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Conversation, ScriptedCall } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { codex } from "../support.js";
import { runCodexClient } from "./client.js";
import { CODEX_BINARY } from "./support.js";

const call = (name: string, args: object): ScriptedCall => ({ name, namespace: "mcp__codex", args });
const exec = (cmd: string, more: object = {}) => call("exec_command", { cmd, login: false, ...more });
const sessionOf = (text: string) => Number(/session ID (\d+)/.exec(text)?.[1]);

/** Runs the real client with the entry that we print for it. Resolves with what its model was shown of each call. */
async function host(
  script: (results: string[]) => Conversation,
  { timeoutS, policy = "never" }: { timeoutS?: number; policy?: string } = {},
): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), "codex-host-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const args = [
    codex,
    "mcp-server",
    "--print-config",
    "codex",
    "-a",
    policy,
    "-s",
    "danger-full-access",
    "-C",
    directory,
  ];
  const entry = execFileSync(process.execPath, args, { encoding: "utf8" });
  const tables = `${timeoutS === undefined ? entry : entry.replace(/(?<=tool_timeout_sec = )\d+/, String(timeoutS))}required = true\n`;
  const results: string[] = [];
  // Skipped without the binary.
  await runCodexClient(CODEX_BINARY!, script(results), {
    cwd: directory,
    sandbox: "danger-full-access",
    config: { tables },
  });
  return results;
}

describe.skipIf(CODEX_BINARY === undefined)("the real client as an MCP host (needs CODEX_BINARY)", () => {
  it("shows its model the text of a result, and uses a session over several calls", async () => {
    const results = await host(function* (results) {
      results.push(yield exec("echo out; exit 3"));
      const started = yield exec("read line; echo got $line", { stdin: "open", yield_time_ms: 500 });
      results.push(started);
      const args = { session_id: sessionOf(started), chars: "typed\n", until: "exit", yield_time_ms: 20_000 };
      results.push(yield call("write_stdin", args));
    });
    expect(results[0]).toMatch(/Process exited with code 3/);
    expect(results[0]).toMatch(/Output:(\n|\\n)out/);
    expect(results[2]).toMatch(/got typed/);
  });

  it("shows what was left out of a long output, with the range to read it", async () => {
    const [text = ""] = await host(function* (results) {
      results.push(yield exec("head -c 200000 /dev/zero | tr '\\0' a", { yield_time_ms: 20_000 }));
    });
    expect(text).toMatch(/Bytes 20000-180000 were left out: read_output with session_id \d+ and from 20000 reads them/);
    expect(text.match(/a{1000,}/g)?.join("").length).toBeGreaterThan(39_000);
  });

  it("finds a session alive whose call has exceeded the client's time limit", async () => {
    const results = await host(
      function* (results) {
        results.push(yield exec("echo up; exec cat", { stdin: "open", yield_time_ms: 20_000 }));
        results.push(yield call("list_sessions", {}));
      },
      { timeoutS: 3 },
    );
    expect(results[0]).toMatch(/timed out/);
    expect(results[1]).toMatch(/session \d+: running/);
  });

  it("is named in a refusal, as it declines without asking anybody", async () => {
    const [text] = await host(
      function* (results) {
        results.push(yield exec("touch never"));
      },
      { policy: "untrusted" },
    );
    expect(text).toMatch(/the client declined it|this MCP client cannot ask its user/);
    expect(text).toMatch(/Nothing was run/);
  });
});
