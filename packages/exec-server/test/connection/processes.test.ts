import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PATH, paramsOf, startParams, useServer } from "../support.js";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Of no meaning without `workspaceRoots`. */
const PROJECT_ROOTS_ALONE = {
  type: "managed",
  file_system: {
    type: "restricted",
    entries: [{ path: { type: "special", value: { kind: "project_roots" } }, access: "write" }],
  },
  network: "restricted",
};

describe("process/write", () => {
  const server = useServer();

  it("remembers each id in progress: a repeat writes nothing, and where all are in progress one more is refused", async () => {
    const client = await server.ready();
    await client.start("p", ["sleep", "100"], { pipeStdin: true, tty: false });
    const write = (writeId: string, text: string) => ({ processId: "p", chunk: base64(text), writeId });
    const first = client.ask("process/write", write("w0", "x".repeat(1024 * 1024)));
    // Their answers are not awaited one by one.
    for (let number = 1; number <= 4095; number += 1) {
      client.send({ id: `own ${number}`, method: "process/write", params: write(`w${number}`, "y") });
    }
    const repeat = client.ask("process/write", write("w0", "again"));
    const more = client.refusal("process/write", write("one more", "z"));
    expect(await more).toMatch(/4096 writes to the process are in progress \(limit 4096 writes\); nothing was written/);
    await client.ask("process/terminate", { processId: "p" });
    expect(await repeat).toEqual(await first);
  });
});

describe("process/start", () => {
  const server = useServer();

  it("answers before the first event, and counts events from 1", async () => {
    const client = await server.ready();
    const ids = Array.from({ length: 60 }, (_, index) => `p${index}`);
    await Promise.all(ids.map((id) => client.start(id, ["/bin/echo", id])));
    for (const id of ids) {
      await client.untilEvent("process/closed", id);
      const answer = client.received.findIndex(
        ({ result }) => result !== undefined && (result as { processId?: string }).processId === id,
      );
      const event = client.received.findIndex((message) => "method" in message && paramsOf(message).processId === id);
      expect(answer).toBeGreaterThan(-1);
      expect(answer).toBeLessThan(event);
      expect(client.eventsOf(id).map((message) => paramsOf(message).seq)).toEqual([1, 2, 3]);
    }
  });

  it.each([
    [{ argv: [] }, "-32602 argv must not be empty"],
    [{ argv: [""] }, /^-32603 /],
    [{ argv: ["/nope/program"] }, /^-32603 .*\/nope\/program/],
    [{ argv: ["no-such-program-here"] }, /^-32603 .*no-such-program-here/],
    [{ argv: ["/etc/passwd"] }, /^-32603 .*\/etc\/passwd.* is not executable/],
    [{ cwd: "file:///no/such/directory" }, /^-32603 .*\/no\/such\/directory/],
    [{ cwd: "file:///etc/hostname" }, /^-32603 .*\/etc\/hostname.* is not a directory/],
    [{ cwd: "tmp" }, "-32602 invalid URI: relative URL without a base"],
    [{ cwd: "http://x/" }, "-32602 unsupported path URI scheme `http`"],
    [{ env: { A: "\0" } }, /^-32603 .*"A"/],
    [{ tty: "yes" }, /^-32602 /],
    [{ tty: true, rows: 0 }, /^-32602 /],
    [{ metadata: { threadId: "no uuid" } }, /^-32602 .*UUID/],
    [{ networkProxy: {} }, /^-32602 missing field `proxy`/],
    [{ enforceManagedNetwork: true }, /^-32602 .*without `networkProxy`/],
    [
      { sandbox: { permissions: PROJECT_ROOTS_ALONE, windowsSandboxLevel: "disabled" } },
      /^-32603 .*sandbox cannot be enforced.*workspaceRoots/,
    ],
  ])("refuses %j", async (more, refusal) => {
    const client = await server.ready();
    const text = await client.refusal("process/start", startParams("p", ["true"], more));
    if (typeof refusal === "string") expect(text.startsWith(refusal)).toBe(true);
    else expect(text).toMatch(refusal);
    // Nothing holds the id.
    await client.start("p", ["true"]);
  });

  it("refuses an id that is in use", async () => {
    const client = await server.ready();
    const [first, second] = await Promise.all([
      client.request("process/start", startParams("p", ["true"])),
      client.request("process/start", startParams("p", ["true"])),
    ]);
    expect([first.error, second.error]).toEqual([undefined, { code: -32600, message: "process p already exists" }]);
    await client.untilEvent("process/closed", "p");
    expect(await client.refusal("process/start", startParams("p", ["true"]))).toContain("already exists");
  });

  it("takes a native directory, as the first clients send it", async () => {
    const client = await server.ready();
    await client.start("p", ["pwd"], { cwd: "/tmp" });
    await client.untilEvent("process/closed", "p");
    expect(client.outputOf("p").trim()).toBe(realpathSync("/tmp"));
  });

  it("makes the environment from the policy, the overlay and the ids", async () => {
    const client = await server.ready();
    const threadId = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    await client.start("p", ["/usr/bin/env"], {
      env: { A: "overlay", CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "secret" },
      envPolicy: {
        inherit: "none",
        ignoreDefaultExcludes: true,
        exclude: [],
        set: { A: "set", B: "set" },
        includeOnly: [],
      },
      metadata: { threadId, toolCallId: "call_1" },
    });
    await client.untilEvent("process/closed", "p");
    expect(client.outputOf("p").trim().split("\n").sort()).toEqual([
      "A=overlay",
      "B=set",
      `CODEX_THREAD_ID=${threadId}`,
      "CODEX_TOOL_CALL_ID=call_1",
    ]);
  });

  it("gives a terminal its size, and a new one", async () => {
    const client = await server.ready();
    await client.start("p", ["sh", "-c", "stty size; read x; stty size; echo shell=$SHELL"], {
      tty: true,
      rows: 10,
      env: { PATH },
    });
    await client.untilEvent("process/output", "p");
    await client.ask("process/resize", { processId: "p", rows: 30, cols: 100 });
    await client.ask("process/write", { processId: "p", chunk: base64("\n"), writeId: "1" });
    await client.untilEvent("process/closed", "p");
    expect(client.outputOf("p")).toMatch(/^10 80\r\n\r\n30 100\r\nshell=\//);
  });
});

describe("process/read", () => {
  const server = useServer();

  it("waits for news, and no longer than asked", async () => {
    const client = await server.ready();
    await client.start("p", ["cat"], { pipeStdin: true });
    const empty = await client.ask("process/read", { processId: "p", waitMs: 1 });
    expect(empty).toEqual({
      chunks: [],
      nextSeq: 1,
      exited: false,
      exitCode: null,
      closed: false,
      failure: null,
      sandboxDenied: false,
    });
    const news = client.ask("process/read", { processId: "p", waitMs: 600_000 });
    await client.ask("process/write", { processId: "p", chunk: base64("x"), writeId: "1" });
    expect(await news).toMatchObject({ chunks: [{ seq: 1, stream: "stdout", chunk: base64("x") }], nextSeq: 2 });
    const end = client.ask("process/read", { processId: "p", afterSeq: 1, waitMs: Number.MAX_SAFE_INTEGER });
    await client.ask("process/closeStdin", { processId: "p" });
    expect(await end).toMatchObject({ chunks: [], exited: true, exitCode: 0 });
  });

  it("never splits a chunk, and always gives the first one", async () => {
    const client = await server.ready();
    await client.start("p", ["sh", "-c", "printf aaaa; read x; printf bbbb; read x"], { pipeStdin: true });
    for (const output of ["aaaa", "aaaabbbb"]) {
      await client.until(() => client.outputOf("p") === output);
      await client.ask("process/write", { processId: "p", chunk: base64("\n"), writeId: output });
    }
    await client.untilEvent("process/closed", "p");
    const read = (more: object) => client.ask("process/read", { processId: "p", ...more });
    expect(await read({ maxBytes: 0 })).toMatchObject({ chunks: [{ seq: 1 }], nextSeq: 2, closed: true });
    expect(await read({ maxBytes: 7 })).toMatchObject({ chunks: [{ seq: 1 }], nextSeq: 2 });
    expect(await read({ maxBytes: 8 })).toMatchObject({ chunks: [{ seq: 1 }, { seq: 2 }], nextSeq: 3 });
    expect(await read({ afterSeq: 2, maxBytes: 8 })).toMatchObject({ chunks: [], nextSeq: 5 });
    expect(await read({})).toMatchObject({ nextSeq: 5 });
  });

  it("says where the output that is kept begins", async () => {
    const client = await server.ready();
    await client.start("p", ["head", "-c", String(9 * 1024 * 1024), "/dev/zero"]);
    await client.untilEvent("process/closed", "p");
    const { chunks, truncatedBefore } = await client.ask<{ chunks: { seq: number }[]; truncatedBefore: number }>(
      "process/read",
      { processId: "p" },
    );
    expect(truncatedBefore).toBeGreaterThan(1);
    expect(chunks[0]!.seq).toBe(truncatedBefore);
  });

  it("knows only the processes of its session", async () => {
    const [one, two] = [await server.ready(), await server.ready()];
    await one.start("p", ["true"]);
    expect(await two.refusal("process/read", { processId: "p", waitMs: 600_000 })).toBe("-32600 unknown process id p");
  });
});

describe("process/write", () => {
  const server = useServer();

  it("keeps the order of pipelined writes, from before the process runs", async () => {
    const client = await server.ready();
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}\n`);
    const started = client.start("p", ["cat"], { pipeStdin: true });
    const written = lines.map((line, index) =>
      client.ask("process/write", { processId: "p", chunk: base64(line), writeId: `w${index}` }),
    );
    await started;
    for (const status of await Promise.all(written)) expect(status).toEqual({ status: "accepted" });
    await client.ask("process/closeStdin", { processId: "p" });
    await client.untilEvent("process/closed", "p");
    expect(client.outputOf("p")).toBe(lines.join(""));
  });

  it("tells what became of it", async () => {
    const client = await server.ready();
    const write = (processId: string, more: object = { writeId: "1" }) =>
      client.ask("process/write", { processId, chunk: base64("x"), ...more });
    expect(await write("nope")).toEqual({ status: "unknownProcess" });
    await client.start("null", ["sleep", "60"]);
    expect(await write("null")).toEqual({ status: "stdinClosed" });
    await client.start("over", ["true"], { pipeStdin: true });
    await client.untilEvent("process/closed", "over");
    expect(await write("over")).toEqual({ status: "stdinClosed" });
    await client.start("ended", ["cat"], { pipeStdin: true });
    await client.ask("process/closeStdin", { processId: "ended" });
    expect(await write("ended")).toEqual({ status: "stdinClosed" });
    expect(await client.refusal("process/write", { processId: "null", chunk: "", writeId: "" })).toContain(
      "-32602 writeId must not be empty",
    );
    expect(await client.refusal("process/closeStdin", { processId: "nope" })).toBe("-32600 unknown process id nope");
  });

  it("writes once for one id, and each time without one", async () => {
    const client = await server.ready();
    await client.start("p", ["cat"], { pipeStdin: true });
    const write = (text: string, more: object) =>
      client.ask("process/write", { processId: "p", chunk: base64(text), ...more });
    expect(await write("a", { writeId: "1" })).toEqual({ status: "accepted" });
    expect(await write("b", { writeId: "1" })).toEqual({ status: "accepted" });
    // The form of the first exec-servers.
    expect(await write("c", {})).toEqual({ status: "accepted", accepted: true });
    expect(await write("c", {})).toEqual({ status: "accepted", accepted: true });
    await client.ask("process/closeStdin", { processId: "p" });
    await client.untilEvent("process/closed", "p");
    expect(client.outputOf("p")).toBe("acc");
  });
});

describe("signals and ends", () => {
  const server = useServer();

  it.each([
    ["interrupt", "SIGINT", 130],
    ["terminate", "SIGTERM", 143],
    ["hangup", "SIGHUP", 129],
  ])("%s", async (signal, name, exitCode) => {
    const client = await server.ready({ outcomes: true });
    for (const tty of [false, true]) {
      const processId = `p${tty}`;
      await client.start(processId, ["sleep", "60"], { tty });
      expect(await client.ask("process/signal", { processId, signal })).toEqual({});
      const told = { exitCode, outcome: { kind: "signaled", signal: name, by: "terminate" } };
      expect(paramsOf(await client.untilEvent("process/exited", processId))).toMatchObject(told);
      expect(await client.ask("process/read", { processId })).toMatchObject(told);
      expect(await client.ask("process/signal", { processId, signal })).toEqual({});
    }
    expect(await client.ask("process/signal", { processId: "nope", signal })).toEqual({});
  });

  it("kills the group at once, or asks first", async () => {
    const client = await server.ready();
    const script = 'trap "echo asked; exit 7" TERM; sh -c "echo ready; sleep 60" & wait';
    for (const processId of ["at-once", "asked"]) {
      await client.start(processId, ["sh", "-c", script]);
      await client.untilEvent("process/output", processId);
    }
    expect(await client.ask("process/terminate", { processId: "at-once" })).toEqual({ running: true });
    expect(paramsOf(await client.untilEvent("process/exited", "at-once")).exitCode).toBe(137);
    await client.untilEvent("process/closed", "at-once"); // its child is gone as well
    const receipt = await client.ask("process/terminate", { processId: "asked", graceMs: 30_000 });
    expect(receipt).toMatchObject({ running: true, gone: true, signals: ["SIGTERM"] });
    await client.untilEvent("process/closed", "asked");
    expect(client.outputOf("asked")).toBe("ready\nasked\n");
    expect(await client.ask("process/terminate", { processId: "asked" })).toEqual({ running: false });
    expect(await client.ask("process/terminate", { processId: "nope", graceMs: 1 })).toEqual({ running: false });
  });

  it("ends what a process left behind", async () => {
    const client = await server.ready();
    await client.start("p", ["sh", "-c", "sleep 60 & exit 0"]);
    await client.untilEvent("process/exited", "p");
    expect(client.eventsOf("p").map(({ method }) => method)).not.toContain("process/closed");
    expect(await client.ask("process/terminate", { processId: "p" })).toEqual({ running: false });
    await client.untilEvent("process/closed", "p");
  });

  it.skipIf(process.platform !== "linux")(
    "leaves alone what a command put in the background, until it is asked to",
    async () => {
      const client = await server.ready();
      await client.start("p", [
        "sh",
        "-c",
        "setsid sh -c 'exec sleep 60 >/dev/null 2>&1' & nohup sleep 60 >/dev/null 2>&1 &",
      ]);
      await client.untilEvent("process/closed", "p");
      expect(await client.ask("process/terminate", { processId: "p" })).toEqual({ running: false });
      const receipt = await client.ask("process/terminate", { processId: "p", graceMs: 5_000 });
      expect(receipt).toMatchObject({ running: false, gone: true, signals: ["SIGTERM"] });
      const { members, strays } = receipt as Record<"members" | "strays", unknown[]>;
      expect([members.length, strays.length]).toEqual([1, 1]);
    },
  );

  it("starts a login shell from a snapshot where that is allowed, and says which it is", async () => {
    const home = mkdtempSync(join(tmpdir(), "snapshot-server-"));
    writeFileSync(join(home, ".bash_profile"), "export MADE=1; echo noise");
    const client = await server.ready();
    const shellSnapshot = { scopeId: "s", shell: { name: "bash", path: "/bin/bash" } };
    const env = { PATH: "/usr/bin:/bin", HOME: home };
    let count = 0;
    const start = async (more: object) => {
      const processId = `p${count++}`;
      const argv = ["/bin/bash", "-lc", "echo $MADE"];
      const params = { processId, argv, cwd: "file:///tmp", env, tty: false, shellSnapshot, ...more };
      const { shellStartup } = (await client.ask("process/start", params)) as { shellStartup: unknown };
      await client.untilEvent("process/closed", processId);
      return { shellStartup, output: client.outputOf(processId) };
    };
    const login = { kind: "login", reason: "the snapshot is being made" };
    expect(await start({})).toEqual({ shellStartup: login, output: "noise\n1\n" });
    await expect.poll(() => start({})).toEqual({ shellStartup: { kind: "snapshot" }, output: "1\n" });
    expect(await start({ shellSnapshot: { ...shellSnapshot, scopeId: "other" } })).toMatchObject({
      shellStartup: login,
    });
    expect(await start({ shellSnapshot: null })).toEqual({ shellStartup: undefined, output: "noise\n1\n" });
    const other = { ...shellSnapshot, shell: { name: "zsh", path: "/bin/zsh" } };
    expect(await start({ shellSnapshot: other })).toMatchObject({
      shellStartup: { kind: "login" },
      output: "noise\n1\n",
    });
    rmSync(home, { recursive: true });
  });

  it("lists the processes of the session", async () => {
    const client = await server.ready();
    await client.start("a", ["sleep", "60"]);
    await client.start("b", ["sh", "-c", "exit 4"]);
    await client.untilEvent("process/closed", "b");
    expect(await client.ask("process/list")).toEqual({
      processes: [
        { processId: "a", pid: expect.any(Number), running: true, exitCode: null, closed: false, nextSeq: 1 },
        { processId: "b", pid: expect.any(Number), running: false, exitCode: 4, closed: true, nextSeq: 3 },
      ],
    });
    expect(await client.refusal("process/resize", { processId: "a", rows: 1, cols: 1 })).toMatch(/^-32600 .*terminal/);
    expect(await client.refusal("process/resize", { processId: "x", rows: 1, cols: 1 })).toMatch(/^-32600 unknown/);
  });
});
