import type { Channel } from "@codex/channel";
import { STANDARD_TOOLS } from "@codex/executor-protocol";
import type { ApprovalRequest, EnvironmentOptions } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { HOST, scriptedChannel } from "../support/executors.js";
import { type StageOptions, stage } from "../support/orchestrators.js";
import { ScriptedEnvironment } from "./support.js";

function withEnvironments(
  environments: readonly (readonly [ScriptedEnvironment, EnvironmentOptions?])[],
  options: StageOptions = {},
) {
  const made = stage(options);
  for (const [environment, own] of environments) made.orchestrator.addEnvironment(environment, own);
  return made;
}

const say = { cmd: "say hi" };

describe("an environment that is attached on first use", () => {
  it("lists the standard tools without being attached", async () => {
    const far = new ScriptedEnvironment("far");
    const { orchestrator } = withEnvironments([[far]]);
    expect(orchestrator.listTools().map(({ name }) => name)).toEqual(Object.keys(STANDARD_TOOLS));
    expect(orchestrator.listEnvironments()).toEqual([{ id: "far", primary: true, status: "disconnected" }]);
    expect(far.attempts).toBe(0);
  });

  it("is attached by the first call, once for all who wait", async () => {
    const far = new ScriptedEnvironment("far");
    let open = () => {};
    far.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { orchestrator } = withEnvironments([[far]]);
    const calls = Array.from({ length: 50 }, () => orchestrator.callTool("exec_command", say));
    await far.begun;
    expect(orchestrator.listEnvironments()).toMatchObject([{ status: "connecting" }]);
    open();
    for (const result of await Promise.all(calls)) {
      expect(result).toMatchObject({ status: "success", environment: "far" });
    }
    expect(far.attempts).toBe(1);
    expect(orchestrator.listEnvironments()).toEqual([
      { id: "far", primary: true, status: "ready", cwd: HOST.cwd, shell: "bash", os: "linux" },
    ]);
  });

  it("that cannot be attached runs nothing anywhere, and says why; the next call tries again", async () => {
    const down = new ScriptedEnvironment("down");
    const up = new ScriptedEnvironment("up");
    down.problem = "no answer from wss://me:secret@far.example:7000/x?token=hidden#part";
    const { orchestrator } = withEnvironments([[down], [up]]);
    const result = await orchestrator.callTool("exec_command", say);
    expect(result).toMatchObject({
      status: "error",
      text: "Environment `down` cannot be used: no answer from wss://far.example:7000/x. Nothing was run.",
      structured: { code: "executor_offline" },
    });
    expect([down.calls, up.calls, up.attempts]).toEqual([[], [], 0]);
    expect(orchestrator.listEnvironments()).toEqual([
      { id: "down", primary: true, status: "failed", reason: "no answer from wss://far.example:7000/x" },
      { id: "up", primary: false, status: "disconnected" },
    ]);
    down.problem = undefined;
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ status: "success", environment: "down" });
  });

  it("is attached again when its executor is gone", async () => {
    const far = new ScriptedEnvironment("far");
    const { orchestrator } = withEnvironments([[far]]);
    expect((await orchestrator.callTool("exec_command", { cmd: "crash" })).status).toBe("lost");
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ status: "success" });
    expect(far.attempts).toBe(2);
  });

  it("is not attached for a session that it cannot have", async () => {
    const far = new ScriptedEnvironment("far");
    const { orchestrator } = withEnvironments([[far]]);
    const result = await orchestrator.callTool("write_stdin", { session_id: 5 });
    expect(result).toMatchObject({ status: "error", text: "unknown session 5 of environment `far`" });
    expect(far.attempts).toBe(0);
  });

  it("lets a call be interrupted that waits for it, and others go on", async () => {
    const far = new ScriptedEnvironment("far");
    let open = () => {};
    far.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { orchestrator } = withEnvironments([[far]]);
    const abort = new AbortController();
    const given = orchestrator.callTool("exec_command", say, { signal: abort.signal });
    const other = orchestrator.callTool("exec_command", say);
    await far.begun;
    abort.abort();
    expect(await given).toMatchObject({ status: "interrupted", structured: { code: "interrupted" } });
    open();
    expect((await other).status).toBe("success");
    expect(far.calls).toHaveLength(1);
  });

  it("whose executor lacks a tool does not hand the call to another environment", async () => {
    const bare = new ScriptedEnvironment("bare", { tools: [] });
    const full = new ScriptedEnvironment("full");
    const { orchestrator } = withEnvironments([[bare], [full]]);
    const result = await orchestrator.callTool("exec_command", say);
    expect(result).toMatchObject({ status: "error", structured: { code: "unknown_environment" } });
    expect(full.attempts).toBe(0);
  });

  it("has a name of its own, and no fallback that is itself", async () => {
    const { orchestrator } = withEnvironments([[new ScriptedEnvironment("a")]]);
    const add = (id: string, options?: EnvironmentOptions) => () =>
      orchestrator.addEnvironment(new ScriptedEnvironment(id), options);
    expect(add("a")).toThrow(expect.objectContaining({ code: "name_taken" }));
    expect(add("no good")).toThrow(expect.objectContaining({ code: "bad_option" }));
    expect(add("b", { fallback: "b" })).toThrow(expect.objectContaining({ code: "bad_option" }));
    expect(await orchestrator.detach("a")).toBe(true);
    expect(orchestrator.listEnvironments()).toEqual([]);
    add("a")();
  });
});

describe("a fallback", () => {
  const down = (fallback?: string) => {
    const environment = new ScriptedEnvironment("down");
    environment.problem = "it is switched off";
    return [environment, fallback === undefined ? {} : { fallback }] as const;
  };

  it("takes the calls of an environment that cannot be used, and the answer says so", async () => {
    const spare = new ScriptedEnvironment("spare");
    const { orchestrator } = withEnvironments([down("spare"), [spare]]);
    const result = await orchestrator.callTool("exec_command", say);
    expect(result).toMatchObject({ status: "success", environment: "spare" });
    expect(result.text.split("\n").slice(0, 2)).toEqual([
      "Note: environment `down` cannot be used (it is switched off); this ran in `spare`, its configured fallback",
      "Environment: spare",
    ]);
  });

  it("that cannot be used either is no chain", async () => {
    const second = new ScriptedEnvironment("second");
    second.problem = "so is this";
    const third = new ScriptedEnvironment("third");
    const { orchestrator } = withEnvironments([down("second"), [second, { fallback: "third" }], [third]]);
    const { text } = await orchestrator.callTool("exec_command", say);
    expect(text).toBe(
      "Environment `down` cannot be used: it is switched off. Its fallback cannot be used either: " +
        "Environment `second` cannot be used: so is this. Nothing was run.",
    );
    expect(third.attempts).toBe(0);
  });

  it("is not used where the turn leaves it out", async () => {
    const spare = new ScriptedEnvironment("spare");
    const { orchestrator } = withEnvironments([down("spare"), [spare]]);
    const result = await orchestrator.callTool("exec_command", say, { environments: [{ id: "down" }] });
    expect(result).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    expect(spare.attempts).toBe(0);
  });
});

describe("a conversation", () => {
  it("keeps the environments of a turn for the turns after it", async () => {
    const a = new ScriptedEnvironment("a");
    const b = new ScriptedEnvironment("b");
    const { orchestrator } = withEnvironments([[a], [b]]);
    const conversation = orchestrator.createConversation();
    const where = async (args: object = {}) =>
      (await conversation.callTool("exec_command", { ...say, ...args })).environment;
    expect(conversation.environments).toBeUndefined();
    expect(await where()).toBe("a");
    conversation.startTurn({ environments: [{ id: "b", cwd: "/b" }, { id: "a" }] });
    expect(await where()).toBe("b");
    expect(b.calls.at(-1)).toMatchObject({ arguments: { cwd: "/b" } });
    expect(await where({ environment_id: "a" })).toBe("a");
    expect(a.calls.at(-1)).toMatchObject({ arguments: { cwd: HOST.cwd } });
    conversation.startTurn();
    expect(await where()).toBe("b");
    expect(conversation.listEnvironments()).toMatchObject([
      { id: "b", primary: true, cwd: "/b" },
      { id: "a", primary: false, cwd: HOST.cwd },
    ]);
    // Others are not affected.
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ environment: "a" });
  });

  it("lets commands write in the directories of the turn, in each environment in its own", async () => {
    const sandbox = { kind: "bubblewrap" } as const;
    const [a, b] = [new ScriptedEnvironment("a", { sandbox }), new ScriptedEnvironment("b", { sandbox })];
    const { orchestrator } = stage({});
    const policy = { approvalPolicy: "never", sandbox: "workspace-write" } as const;
    for (const each of [a, b]) orchestrator.addEnvironment(each, { policy });
    const conversation = orchestrator.createConversation({
      environments: [{ id: "a", cwd: "/of-a", workspaceRoots: ["/of-a", "/more-of-a"] }, { id: "b" }],
    });
    conversation.startTurn({
      environments: [{ id: "b", cwd: "/of-b" }, ...(conversation.environments ?? []).filter(({ id }) => id === "a")],
    });
    await conversation.callTool("exec_command", { ...say, environment_id: "a" });
    await conversation.callTool("exec_command", say);
    const sandboxOf = ({ calls }: ScriptedEnvironment) => JSON.stringify(Reflect.get(Object(calls[0]), "arguments"));
    expect(sandboxOf(a)).toMatch(/"cwd":"\/of-a".*"\/more-of-a"/);
    expect(sandboxOf(a)).not.toContain("/of-b");
    expect(sandboxOf(b)).toMatch(/"cwd":"\/of-b"/);
    expect(sandboxOf(b)).not.toContain("of-a");
  });

  it("has no tools and runs nothing where no environment is selected", async () => {
    const a = new ScriptedEnvironment("a");
    const { orchestrator } = withEnvironments([[a]]);
    const conversation = orchestrator.createConversation({ environments: [] });
    expect(conversation.listTools()).toEqual([]);
    expect(conversation.listEnvironments()).toEqual([]);
    const result = await conversation.callTool("exec_command", say);
    expect(result).toMatchObject({
      status: "error",
      text: "no environment is selected, and `exec_command` needs one. Nothing was run.",
      structured: { code: "no_environment" },
    });
    expect(a.attempts).toBe(0);
    conversation.startTurn({ environments: [{ id: "a" }] });
    expect(conversation.listTools()).not.toEqual([]);
  });

  it("refuses an environment that is not there, and changes nothing then", async () => {
    const { orchestrator } = withEnvironments([[new ScriptedEnvironment("a")], [new ScriptedEnvironment("b")]]);
    const conversation = orchestrator.createConversation({ environments: [{ id: "b" }] });
    const select =
      (...ids: string[]) =>
      () =>
        conversation.startTurn({ environments: ids.map((id) => ({ id })) });
    expect(select("c")).toThrow("there is no environment `c`; known: `a`, `b`");
    expect(select("a", "a")).toThrow("environment `a` is selected twice");
    expect(conversation.environments).toEqual([{ id: "b" }]);
  });

  it("lets nothing be named that is not selected, and does not ask for a name where there is one", async () => {
    const { orchestrator } = withEnvironments([
      [new ScriptedEnvironment("a")],
      [new ScriptedEnvironment("b")],
      [new ScriptedEnvironment("c")],
    ]);
    const conversation = orchestrator.createConversation({ environments: [{ id: "c" }, { id: "a" }] });
    const property = () => conversation.listTools()[0]?.inputSchema.properties;
    expect(property()).toMatchObject({
      environment_id: { enum: ["c", "a"], description: "Environment to use, default `c`" },
    });
    expect(await conversation.callTool("exec_command", { ...say, environment_id: "b" })).toMatchObject({
      structured: { code: "unknown_environment", reason: expect.stringContaining("expected one of `c`, `a`") },
    });
    conversation.startTurn({ environments: [{ id: "c" }] });
    expect(property()).not.toHaveProperty("environment_id");
    const { text } = await conversation.callTool("exec_command", say);
    expect(text).not.toContain("Environment:");
  });

  it("does not reach a session of an environment that is not selected any more", async () => {
    const { orchestrator } = withEnvironments([[new ScriptedEnvironment("a")], [new ScriptedEnvironment("b")]]);
    const conversation = orchestrator.createConversation();
    await conversation.callTool("exec_command", { cmd: "stay" });
    conversation.startTurn({ environments: [{ id: "b" }] });
    const result = await conversation.callTool("write_stdin", { session_id: 1000, chars: "x" });
    expect(result.text).toBe("session 1000 belongs to environment `a`, which is not selected");
  });

  it("does not let another environment become its default when the first is removed", async () => {
    const b = new ScriptedEnvironment("b");
    const { orchestrator } = withEnvironments([[new ScriptedEnvironment("a")], [b]]);
    const conversation = orchestrator.createConversation({ environments: [{ id: "a" }, { id: "b" }] });
    await orchestrator.detach("a");
    const result = await conversation.callTool("exec_command", say);
    expect(result.text).toBe("environment `a`, the default of this turn, no longer exists. Nothing was run.");
    expect(b.attempts).toBe(0);
    expect(await conversation.callTool("exec_command", { ...say, environment_id: "b" })).toMatchObject({
      environment: "b",
    });
  });
});

describe("an environment's own rules", () => {
  it("decide about its commands, and a model cannot choose them", async () => {
    const strict = new ScriptedEnvironment("strict");
    const open = new ScriptedEnvironment("open");
    const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" } as const;
    const { orchestrator } = withEnvironments([[strict, { policy }], [open]], { policy: "never" });
    const args = { cmd: "make all", policy: { approvalPolicy: "never" }, approval_policy: "never" };
    expect(await orchestrator.callTool("exec_command", args)).toMatchObject({
      status: "denied",
      environment: "strict",
    });
    expect((await orchestrator.callTool("exec_command", { ...args, environment_id: "open" })).status).toBe("success");
    expect(strict.calls).toEqual([]);
    const bad = { policy: {} as never };
    expect(() => orchestrator.addEnvironment(new ScriptedEnvironment("x"), bad)).toThrow(
      expect.objectContaining({ code: "bad_option" }),
    );
  });

  it("name who is asked: the call's approver, the environment's, the orchestrator's; each sees where it would run", async () => {
    const asked: string[] = [];
    const approver = (name: string) => ({
      async requestApproval({ environment }: ApprovalRequest) {
        asked.push(`${name}: ${environment}`);
        return "accept" as const;
      },
    });
    const { orchestrator } = withEnvironments(
      [[new ScriptedEnvironment("a")], [new ScriptedEnvironment("b"), { approver: approver("of b") }]],
      { policy: "untrusted", approver: approver("common") },
    );
    const call = (environment_id: string, own?: string) =>
      orchestrator.callTool(
        "exec_command",
        { cmd: "make all", environment_id },
        own === undefined ? {} : { approver: approver(own) },
      );
    await call("a");
    await call("b");
    await call("b", "of the call");
    const conversation = orchestrator.createConversation({ approver: approver("of the conversation") });
    await conversation.callTool("exec_command", { cmd: "make all" });
    expect(asked).toEqual(["common: a", "of b: b", "of the call: b", "of the conversation: a"]);
  });

  it("are for attached executors alone where nothing was added", async () => {
    const { orchestrator } = stage({ executors: [{ name: "a", channel: scriptedChannel().channel }] });
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ status: "success", environment: "a" });
  });
});

describe("an attempt to attach whose name is detached", () => {
  it("ends for those who wait, and what it attaches later is closed: the name belongs to the next environment", async () => {
    const former = new ScriptedEnvironment("build");
    let open = () => {};
    former.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { orchestrator } = withEnvironments([[former]]);
    const first = orchestrator.callTool("exec_command", say);
    await former.begun;
    expect(await orchestrator.detach("build")).toBe(true);
    expect(await first).toMatchObject({
      status: "error",
      text: "Environment `build` cannot be used: it was detached. Nothing was run.",
    });
    const next = new ScriptedEnvironment("build");
    orchestrator.addEnvironment(next);
    const second = orchestrator.callTool("exec_command", say);
    open();
    expect(await second).toMatchObject({ status: "success" });
    await former.attached.catch(() => {});
    await expect(former.attached).rejects.toThrow("attaching executor `build` was cancelled");
    expect([former.calls, next.calls.length]).toEqual([[], 1]);
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ status: "success" });
    expect([former.calls, next.calls.length]).toEqual([[], 2]);
  });

  it("does not come back: neither as an executor nor as an environment", async () => {
    const former = new ScriptedEnvironment("build");
    let open = () => {};
    former.gate = new Promise((resolve) => {
      open = resolve;
    });
    const { orchestrator } = withEnvironments([[former]]);
    const call = orchestrator.callTool("exec_command", say);
    await former.begun;
    await orchestrator.detach("build");
    await call;
    open();
    await expect(former.attached).rejects.toThrow("was cancelled");
    expect([orchestrator.executors, orchestrator.listEnvironments()]).toEqual([[], []]);
  });

  it("is ended also without an environment, its channel is closed, and the name is free at once", async () => {
    const { orchestrator } = stage();
    let open = (_channel: Channel) => {};
    const opening = new Promise<Channel>((resolve) => {
      open = resolve;
    });
    const former = orchestrator.attach({ name: "build", channel: opening });
    expect(await orchestrator.detach("build")).toBe(true);
    await expect(former).rejects.toThrow("attaching executor `build` was cancelled");
    const next = scriptedChannel();
    await orchestrator.attach({ name: "build", channel: next.channel, shutdownOnClose: false });
    const late = scriptedChannel();
    open(late.channel);
    expect(await late.channel.closed).toEqual({ kind: "closed" });
    expect(await orchestrator.callTool("exec_command", say)).toMatchObject({ status: "success" });
    expect(late.executor.received).toEqual([]);
  });
});

it("describing selected environments takes work that grows as their number does", () => {
  const readsAt = (count: number) => {
    const limits = { environments: 1000 };
    const environments = Array.from({ length: count }, (_, index) => new ScriptedEnvironment(`e${index}`));
    const { orchestrator } = withEnvironments(
      environments.map((environment) => [environment]),
      { defaults: { limits } },
    );
    let reads = 0;
    const selection = environments.map(({ id }) => ({
      get id() {
        reads += 1;
        return id;
      },
    }));
    expect(orchestrator.listEnvironments(selection)).toHaveLength(count);
    return reads;
  };
  expect(readsAt(800) / readsAt(100)).toBeLessThan(10);
});
