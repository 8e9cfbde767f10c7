import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { customCall, message, respond, say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "../support.js";
import { eventsOf, itemsOf, setUpAgent, shell } from "./support.js";

const command = useCommand();
const UNHELD = { config: 'sandbox_mode = "danger-full-access"' };

const threadFile = (home: string) => {
  const names = readdirSync(join(home, "sessions"), { recursive: true }).map(String);
  return join(home, "sessions", names.find((name) => name.endsWith(".jsonl")) ?? "none");
};

describe("codex exec that is killed", () => {
  /** The event behind which it is killed, by its number. */
  it.each([0, 1, 2, 3, 4, 5, 6])(
    "behind event %i goes on with resume, and says of its calls what is true",
    async (at) => {
      const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";
      const script = [
        respond(message("I begin.", "m0"), shell("c1", "echo one >> log")),
        respond(customCall("c2", "apply_patch", patch), shell("c3", "echo two >> log; sleep 0.3; echo three >> log")),
        say("done"),
        say("done"),
      ];
      const { endpoint, home, repository, start, run } = await setUpAgent(command, script, UNHELD);
      const child = start(["--json", "-m", "gpt-5.5", "go"]);
      child.stdin.end();
      let lines = 0;
      let isKilled = false;
      child.stdout.on("data", (bytes: Buffer) => {
        lines += bytes.toString().split("\n").length - 1;
        if (lines > at && !isKilled) isKilled = child.kill("SIGKILL");
      });
      await once(child, "close");
      const asked = endpoint.requests.length;
      const before = existsSync(join(repository, "log")) ? readFileSync(join(repository, "log"), "utf8") : "";
      const { code, stdout, stderr } = await run(["resume", "--json", "--last", "again"]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(eventsOf(stdout).at(-1)?.type).toBe("turn.completed");
      // What was there is sent again, each call with an output, and nothing is made again by itself.
      const { input } = endpoint.requests[asked]!.body;
      const ids = (type: RegExp) => input.filter((item) => type.test(item.type)).map(({ call_id: id }) => id);
      expect(ids(/_call_output$/).sort()).toEqual(ids(/_call$/).sort());
      const outputs = input.filter(({ type }) => type.endsWith("_output")).map(({ output }) => String(output));
      for (const output of outputs) expect(output).toMatch(/code 0|Exit code: 0|aborted|not started/);
      const after = existsSync(join(repository, "log")) ? readFileSync(join(repository, "log"), "utf8") : "";
      expect(after.startsWith(before)).toBe(true);
      for (const word of ["one", "two"]) expect(after.split(word).length).toBeLessThanOrEqual(2);
      expect(statSync(threadFile(home)).mode & 0o777).toBe(0o600);
    },
  );

  it("leaves half a line behind, and goes on", async () => {
    const { endpoint, home, run } = await setUpAgent(command, [say("first"), say("second")]);
    await run(["one"]);
    appendFileSync(threadFile(home), '{"timestamp":"","type":"response_item","payload":{"type":"mess');
    expect((await run(["resume", "--last", "two"])).stdout.toString()).toBe("second\n");
    expect(endpoint.requests[1]?.text).toMatch(/one[\s\S]*first[\s\S]*two/);
  });
});

describe("a thread", () => {
  it("is written by one process at a time", async () => {
    const { endpoint, start, run } = await setUpAgent(command, [
      say("first"),
      respond(shell("c1", "echo began; sleep 1000")),
    ]);
    const id = String(eventsOf((await run(["--json", "one"])).stdout)[0]?.thread_id);
    const child = start(["resume", id, "--json", "--json-deltas", "two"]);
    child.stdin.end();
    for await (const bytes of child.stdout) if (String(bytes).includes("began\\n")) break;
    const second = await run(["resume", id, "three"]);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/another process/);
    expect(endpoint.requests).toHaveLength(2);
    child.kill("SIGKILL");
    await finish(child);
  });

  it("that cannot be kept is an error before the model is asked", async () => {
    const { endpoint, home, run } = await setUpAgent(command, [say("never"), say("done")]);
    mkdirSync(join(home, "sessions"));
    // A file where a directory has to be: so it is for root as well.
    appendFileSync(join(home, "sessions", String(new Date().getFullYear())), "");
    const { code, stderr } = await run(["go"]);
    expect([code, endpoint.requests.length]).toEqual([1, 0]);
    expect(stderr).toMatch(/sessions/);
    expect((await run(["--ephemeral", "go"])).code).toBe(0);
  });

  it("ends its turn when its file cannot be written, truthfully, and is resumed from what was", async () => {
    const script = [
      respond(shell("c1", "echo one >> log; head -c 30000 /dev/zero | tr '\\0' a"), shell("c2", "echo two >> log")),
      say("done"),
    ];
    const { endpoint, home, repository, env, run } = await setUpAgent(command, script, UNHELD);
    // No file of this process grows beyond 24 KiB or, in shells with other units, twice that: it fails as a full disk does.
    const limited = ["-c", 'ulimit -f 24 && exec "$@"', "sh", process.execPath, codex, "exec", "--json", "go"];
    const child = spawn("sh", limited, { cwd: repository, env: { ...process.env, ...env } });
    child.stdin.end();
    const { code, stdout } = await finish(child);
    const file = threadFile(home);
    expect(code).toBe(1);
    expect(eventsOf(stdout).at(-1)).toMatchObject({
      type: "turn.failed",
      error: { code: "not_saved", message: expect.stringContaining(file) as string },
    });
    // Both commands have ended, and nothing is asked that the thread would lack.
    expect(itemsOf(stdout).map(({ exit_code: exitCode }) => exitCode)).toEqual([0, 0]);
    expect(endpoint.requests).toHaveLength(1);
    for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    expect((await run(["resume", "--last", "again"])).stdout.toString()).toBe("done\n");
    const outputs = endpoint.requests[1]!.body.input.filter(({ type }) => type === "function_call_output");
    expect(outputs.find(({ call_id: id }) => id === "c1")?.output).toMatch(/was started\. What it did is unknown/);
    expect(readFileSync(join(repository, "log"), "utf8").split("\n").sort()).toEqual(["", "one", "two"]);
  });

  it("is forked with the history, which stays as it was", async () => {
    const { endpoint, home, run } = await setUpAgent(command, [say("first"), say("second")]);
    const id = String(eventsOf((await run(["--json", "one"])).stdout)[0]?.thread_id);
    const file = threadFile(home);
    const before = readFileSync(file);
    const forked = eventsOf((await run(["fork", id, "--json", "two"])).stdout);
    expect(forked[0]?.thread_id).not.toBe(id);
    expect(endpoint.requests[1]?.text).toMatch(/one[\s\S]*first[\s\S]*two/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is summarized when it is long, and goes on from the summary", async () => {
    const script = [say("An answer."), say("A summary."), say("second"), say("third")];
    const { endpoint, run } = await setUpAgent(command, script, { config: "model_auto_compact_token_limit = 15" });
    const id = String(eventsOf((await run(["--json", "one"])).stdout)[0]?.thread_id);
    const { stdout } = await run(["resume", id, "--json", "two"]);
    expect(itemsOf(stdout).find(({ type }) => type === "compaction")).toMatchObject({ summary: "A summary." });
    expect(endpoint.requests[1]?.body.tools).toEqual([]);
    const { input } = endpoint.requests[2]!.body;
    expect(JSON.stringify(input)).toMatch(/one[\s\S]*A summary\.[\s\S]*two/);
    expect(JSON.stringify(input)).not.toContain("An answer.");
  });
});
