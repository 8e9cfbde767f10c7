import type { ApprovalRequest } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { type StageOptions, stage } from "../support/orchestrators.js";
import { ScriptedEnvironment } from "./support.js";

const EXTRA = { name: "mcp__git__log", description: "Shows commits", inputSchema: { type: "object" } };
const WRITE = { ...EXTRA, name: "mcp__git__commit", asksApproval: true };

/** Two environments, and an executor that adds tools to one of them. */
async function withExtra(toolsFor: string, options: StageOptions = {}) {
  const made = stage(options);
  for (const id of ["a", "b"]) made.orchestrator.addEnvironment(new ScriptedEnvironment(id));
  const { channel, executor } = scriptedChannel({ tools: [EXTRA, WRITE] });
  await made.orchestrator.attach({ name: "mcp.0", channel, toolsFor, shutdownOnClose: false });
  const names = (environments?: readonly { id: string }[]) =>
    made.orchestrator.listTools(environments === undefined ? {} : { environments }).map(({ name }) => name);
  return { ...made, executor, names };
}

describe("an executor that adds tools to an environment", () => {
  it("is no environment, and its tools take no environment_id", async () => {
    const { orchestrator, names } = await withExtra("b");
    expect(orchestrator.listEnvironments().map(({ id }) => id)).toEqual(["a", "b"]);
    expect(orchestrator.executors).toEqual([]);
    expect(names()).toEqual(expect.arrayContaining(["exec_command", EXTRA.name]));
    const specs = orchestrator.listTools();
    expect(JSON.stringify(specs.find(({ name }) => name === "exec_command"))).toContain("environment_id");
    expect(JSON.stringify(specs.find(({ name }) => name === EXTRA.name))).not.toContain("environment_id");
  });

  it("does not make one environment one of several", async () => {
    const { orchestrator } = stage();
    orchestrator.addEnvironment(new ScriptedEnvironment("a"));
    const { channel } = scriptedChannel({ tools: [EXTRA] });
    await orchestrator.attach({ name: "mcp.0", channel, toolsFor: "a", shutdownOnClose: false });
    expect(JSON.stringify(orchestrator.listTools())).not.toContain("environment_id");
  });

  it("carries calls out as those of the environment, whose approver sees it", async () => {
    const asked: ApprovalRequest[] = [];
    const approver = {
      requestApproval(request: ApprovalRequest) {
        asked.push(request);
        return Promise.resolve("decline" as const);
      },
    };
    const { orchestrator, executor } = await withExtra("b", { approver, policy: "on-request" });
    const args = { path: "/x" };
    await orchestrator.callTool(EXTRA.name, args);
    expect(executor.received.filter(({ type }) => type === "call_tool")).toMatchObject([{ arguments: args }]);
    const result = await orchestrator.callTool(WRITE.name, args, { environments: [{ id: "a" }, { id: "b" }] });
    expect(result).toMatchObject({ status: "denied", environment: "b" });
    orchestrator.addEnvironment(new ScriptedEnvironment("c"), {
      policy: { approvalPolicy: "untrusted", sandbox: "read-only" },
    });
    const { channel } = scriptedChannel({ tools: [{ ...WRITE, name: "mcp__c__commit" }] });
    await orchestrator.attach({ name: "mcp.1", channel, toolsFor: "c", shutdownOnClose: false });
    expect(await orchestrator.callTool("mcp__c__commit", args)).toMatchObject({ status: "denied", environment: "c" });
    expect(asked.map(({ environment }) => environment)).toEqual(["b", "c"]);
  });

  it("is selected with its environment, and always where there is none of the name", async () => {
    const { names, orchestrator } = await withExtra("b");
    expect(names([{ id: "a" }])).not.toContain(EXTRA.name);
    expect(names([{ id: "a" }, { id: "b" }])).toContain(EXTRA.name);
    expect(names([])).toEqual([]);
    const left = await orchestrator.callTool(EXTRA.name, {}, { environments: [{ id: "a" }] });
    expect(left).toMatchObject({ status: "error", structured: { code: "no_environment" } });
    const own = await withExtra("local");
    expect(own.names([{ id: "a" }])).toContain(EXTRA.name);
    expect(own.names([])).toEqual([EXTRA.name, WRITE.name]);
  });

  it("is gone when it is detached", async () => {
    const { names, orchestrator } = await withExtra("b");
    expect(await orchestrator.detach("mcp.0")).toBe(true);
    expect(names()).not.toContain(EXTRA.name);
  });
});
