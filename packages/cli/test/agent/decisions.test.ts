import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { customCall, respond, say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";
import { itemsOf, setUpAgent, shell } from "./support.js";

const command = useCommand();
const patch = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+one\n*** End Patch`;

describe("what decided about a call", () => {
  it("is in its event, in the thread and in the audit log, for commands and patches", async () => {
    const script = [
      respond(
        shell("c1", "touch made"),
        shell("c2", "rm -rf /nowhere"),
        customCall("c3", "apply_patch", patch("a.txt")),
      ),
      say("done"),
    ];
    const config = 'sandbox_mode = "danger-full-access"\naudit.enabled = true';
    const { home, repository, env, run } = await setUpAgent(command, script, { config });
    mkdirSync(join(home, "rules"));
    writeFileSync(join(home, "rules", "default.rules"), 'prefix_rule(pattern=["touch"], decision="allow")\n');
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    const byKind = (text: string) => itemsOf(stdout).find((item) => JSON.stringify(item).includes(text));
    expect(byKind("touch made")).toMatchObject({
      decision: { kind: "allowed", by: "rule" },
      rule: expect.stringMatching(/touch.*default\.rules/),
    });
    expect(byKind("/nowhere")).toMatchObject({ status: "declined", decision: { kind: "forbidden", by: "policy" } });
    expect(byKind("a.txt")).toMatchObject({ type: "file_change", decision: { kind: "allowed", by: "policy" } });

    const [name] = readdirSync(join(home, "sessions"), { recursive: true }).filter((one) =>
      String(one).endsWith(".jsonl"),
    );
    const lines = readFileSync(join(home, "sessions", String(name)), "utf8")
      .trimEnd()
      .split("\n");
    const finished = lines.map((line) => JSON.parse(line) as { type: string; payload: { callId: string } });
    expect(
      finished
        .filter(({ type }) => type === "call_finished")
        .map(({ payload }) => payload)
        .sort((a, b) => (a.callId < b.callId ? -1 : 1)),
    ).toMatchObject([
      { callId: "c1", decidedBy: "rule", rule: expect.stringContaining("touch") },
      { callId: "c2", decidedBy: "policy" },
      { callId: "c3", decidedBy: "policy" },
    ]);

    const log = readFileSync(join(home, "audit.jsonl"), "utf8").trimEnd().split("\n");
    const events = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const patched = events.filter(({ tool }) => tool === "apply_patch");
    expect(patched).toMatchObject([
      { type: "call", runs: true, requirement: "skip", decidedBy: "policy", environment: "local" },
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: "result", call: patched[0]?.call, status: "success" }),
    );
    expect(JSON.stringify(log)).not.toContain("+one");
    const verified = command.startIn(repository, ["audit", "verify"], env);
    verified.stdin.end();
    expect((await finish(verified)).stdout.toString()).toMatch(/^intact: 5 records/);
  });

  it("is in the audit log also where a patch is refused", async () => {
    const script = [respond(customCall("c1", "apply_patch", patch("a.txt"))), say("done")];
    const { home, repository, run } = await setUpAgent(command, script, { config: "audit.enabled = true" });
    const { stdout } = await run(["--json", "-s", "read-only", "go"]);
    expect(itemsOf(stdout)[0]).toMatchObject({ status: "declined", decision: { kind: "denied", by: "policy" } });
    expect(readdirSync(repository)).toEqual([".git"]);
    const [line = ""] = readFileSync(join(home, "audit.jsonl"), "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({
      type: "call",
      tool: "apply_patch",
      runs: false,
      requirement: "forbidden",
      status: "forbidden",
    });
  });

  it("keeps a patch from being applied that has to be on record and cannot be", async () => {
    const script = [respond(customCall("c1", "apply_patch", patch("a.txt"))), say("done")];
    const config = 'sandbox_mode = "danger-full-access"\naudit.enabled = true\naudit.required = true';
    const { endpoint, home, repository, run } = await setUpAgent(command, script, { config });
    mkdirSync(join(home, "audit.jsonl"));
    const { code } = await run(["go"]);
    expect(code).toBe(0);
    expect(readdirSync(repository)).toEqual([".git"]);
    expect(String(endpoint.requests[1]?.body.input.at(-1)?.output)).toMatch(/must be recorded/);
  });
});
