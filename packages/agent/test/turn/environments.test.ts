import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentOptions, type AgentTool, createApplyPatchTool, type FilePolicy } from "@codex/agent";
import { functionCall, respond, type Script, say } from "@codex/agent/testing";
import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { createLocalEnvironment } from "@codex/local";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it, onTestFinished } from "vitest";
import { readAll, startAgent } from "./support.js";

const run = (id: string, environment?: string, cmd = "pwd") =>
  functionCall(id, "exec_command", { cmd, ...(environment === undefined ? {} : { environment_id: environment }) });

/** An agent whose calls may run in `local` and `other`, both on this host. */
async function startBoth(script: Script, agent: Partial<AgentOptions> = {}) {
  const started = await startAgent(script, { agent });
  const backend = createLocalBackend();
  const [channel, its] = createMemoryChannelPair();
  const served = createExecutor({ backend }).serve(its, { resumable: false });
  await started.orchestrator.attach({ name: "other", channel });
  onTestFinished(async () => {
    await started.orchestrator.detach("other");
    await served;
    await backend.close();
  });
  /** Of a call, by the last request. */
  const outputOf = (id: string): string => {
    const items = started.endpoint.requests.at(-1)?.body.input ?? [];
    return String(items.find((item) => item.type === "function_call_output" && item.call_id === id)?.output);
  };
  const toolsOf = (request: number): unknown[] =>
    (started.endpoint.requests[request]?.body.tools ?? []).map((tool) => Reflect.get(tool, "name"));
  return { ...started, outputOf, toolsOf };
}

/** Where a call ran: its environment, if the model reads that, and its output. */
const placeOf = (output: string) => [/^Environment: (\S+)/m.exec(output)?.[1], output.trimEnd().split("\n").at(-1)];

describe("the environments of a thread", () => {
  it("are those of its latest turn that names some, each with its directory", async () => {
    const { thread, outputOf, cwd, entries } = await startBoth(
      [
        respond(run("c1"), run("c2", "other")),
        say("one"),
        respond(run("c3"), run("c4", "local")),
        say("two"),
        respond(run("c5")),
        say("three"),
        respond(run("c6"), run("c7", "other")),
        say("four"),
      ],
      { environments: [{ id: "local" }, { id: "other", cwd: "/" }] },
    );
    await readAll(thread.run("one"));
    await readAll(thread.run("two", { environments: [{ id: "other", cwd: "/usr" }, { id: "local" }] }));
    await readAll(thread.run("three"));
    await readAll(thread.run("four", { environments: [{ id: "local", cwd: "/usr/bin" }] }));
    expect(["c1", "c2", "c3", "c4", "c5", "c6"].map((id) => placeOf(outputOf(id)))).toEqual([
      ["local", cwd],
      ["other", "/"],
      ["other", "/usr"],
      ["local", cwd],
      ["other", "/usr"],
      [undefined, "/usr/bin"],
    ]);
    expect(outputOf("c7")).toMatch(/expected one of `local` for `exec_command`, got `other`/);
    const turns = entries.flatMap((entry) => (entry.type === "turn_started" ? [[entry.environment, entry.cwd]] : []));
    expect(turns).toEqual([
      ["local", cwd],
      ["other", "/usr"],
      ["other", "/usr"],
      ["local", "/usr/bin"],
    ]);
  });

  it("are not shared by its agent's other threads", async () => {
    const { agent, thread, outputOf, cwd } = await startBoth([
      say("one"),
      respond(run("c1")),
      say("two"),
      respond(run("c2")),
      say("three"),
    ]);
    await readAll(thread.run("one", { environments: [{ id: "other", cwd: "/" }] }));
    await readAll(agent.startThread().run("two"));
    expect(placeOf(outputOf("c1"))).toEqual(["local", cwd]);
    await readAll(thread.run("three"));
    expect(placeOf(outputOf("c2"))).toEqual([undefined, "/"]);
  });

  it("may be none: no tool that needs one is offered, and none runs", async () => {
    const file = await fileTools();
    const { thread, toolsOf, outputOf, cwd } = await startBoth(
      [say("one"), respond(run("c1", "local", "touch made"), patch("c2")), say("two"), say("three")],
      { tools: file.tools },
    );
    await readAll(thread.run("one"));
    await readAll(thread.run("two", { environments: [] }));
    await readAll(thread.run("three", { environments: [{ id: "local" }] }));
    expect(toolsOf(0)).toEqual(expect.arrayContaining(["exec_command", "apply_patch", "plain"]));
    expect(toolsOf(1)).toEqual(["plain"]);
    expect(toolsOf(3)).toEqual(toolsOf(0));
    for (const id of ["c1", "c2"]) expect(outputOf(id)).toMatch(/There is no tool .*Nothing was run/);
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  it("hold for patches: one for an environment that is not selected changes nothing", async () => {
    const file = await fileTools();
    const { thread, outputOf, cwd } = await startBoth(
      [respond(patch("c1", "local")), say("one"), respond(patch("c2", "local")), say("two")],
      { tools: file.tools },
    );
    await readAll(thread.run("one", { environments: [{ id: "other", cwd: "/" }] }));
    expect(outputOf("c1")).toMatch(/environment 'local' is not selected in this turn/);
    expect(existsSync(join(cwd, "made"))).toBe(false);
    await readAll(thread.run("two", { environments: [{ id: "other", cwd: "/" }, { id: "local" }] }));
    expect(readFileSync(join(cwd, "made"), "utf8")).toBe("by a patch\n");
  });

  it("must be there: a turn that names another one is not started", async () => {
    const { thread, outputOf, endpoint } = await startBoth([respond(run("c1")), say("one")]);
    expect(() => thread.run("go", { environments: [{ id: "nowhere" }] })).toThrow(
      expect.objectContaining({ code: "unknown_environment", message: expect.stringContaining("`nowhere`") as string }),
    );
    expect(endpoint.requests).toHaveLength(0);
    await readAll(thread.run("go"));
    expect(placeOf(outputOf("c1"))[0]).toBe("local");
  });

  it("are handed to the reader of the context", async () => {
    const seen: unknown[] = [];
    const { thread } = await startBoth([say("one"), say("two"), say("three")], {
      readContext: async ({ environments }) => {
        seen.push(environments);
        return { sections: [] };
      },
    });
    await readAll(thread.run("one"));
    await readAll(thread.run("two", { environments: [{ id: "other", cwd: "/" }] }));
    await readAll(thread.run("three"));
    expect(seen).toEqual([undefined, [{ id: "other", cwd: "/" }], [{ id: "other", cwd: "/" }]]);
  });
});

const patch = (id: string, environment?: string) =>
  functionCall(id, "apply_patch", {
    input: `*** Begin Patch\n${environment === undefined ? "" : `*** Environment ID: ${environment}\n`}*** Add File: made\n+by a patch\n*** End Patch\n`,
  });

/** `apply_patch` for both environments, and a tool that needs none. */
async function fileTools(): Promise<{ tools: AgentTool[] }> {
  const { files, close } = createLocalEnvironment();
  onTestFinished(close);
  const environments = {
    ids: ["local", "other"],
    get: async (id = "local") => ({ id, files, cwd: "/" }),
  };
  const policy: FilePolicy = {
    permit: async () => ({ kind: "granted", fileSandbox: undefined }),
    sandboxOf: async () => ({ fileSandbox: undefined }),
  };
  const clock = { now: () => 0 };
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id${ids}`;
  };
  const plain: AgentTool = {
    spec: { name: "plain", description: "", inputSchema: { type: "object" } },
    call: async () => ({ output: "" }),
  };
  return { tools: [createApplyPatchTool({ environments, policy, clock, newId }), plain] };
}
