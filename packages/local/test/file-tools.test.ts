// The tools for files that an orchestrator offers itself: decided, held and recorded as its commands.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditEvent, AuditLog } from "@codex/audit";
import type { ExecutorTool } from "@codex/executor";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "@codex/local";
import type { ApprovalRequest } from "@codex/orchestrator";
import { createSandboxSelector } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";

const { kind } = await createCommandSandbox().getSupport();

/** An orchestrator that writes in a directory of its own, and asks about everything else. */
async function open(options: LocalOrchestratorOptions = {}, decision: "accept" | "decline" = "decline") {
  const root = mkdtempSync(join(realpathSync("/var/tmp"), "file tools-"));
  const cwd = join(root, "work");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
  const asked: ApprovalRequest[] = [];
  const events: AuditEvent[] = [];
  const log = { record: async (event: AuditEvent) => void events.push(event), flush: async () => {} };
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "on-request", sandbox: "workspace-write" },
    approver: {
      requestApproval: async (request) => {
        asked.push(request);
        return decision;
      },
    },
    audit: { log: log as Partial<AuditLog> as AuditLog },
    ...options,
  });
  onTestFinished(async () => {
    await orchestrator.close();
    rmSync(root, { recursive: true });
  });
  const call = (name: string, args: object) => orchestrator.callTool(name, args, { cwd });
  const patch = (...lines: string[]) => call("apply_patch", { input: render(lines) });
  return { orchestrator, root, cwd, asked, events, call, patch };
}

const render = (lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const names = (tools: readonly { name: string }[]) =>
  tools.map(({ name }) => name).filter((name) => /patch|image|_file|_dir/.test(name));

describe("the tools for files", () => {
  it("are offered beside those of executors, all, some, or none", async () => {
    const all = ["apply_patch", "view_image", "read_file", "list_dir"];
    expect(names((await open()).orchestrator.listTools())).toEqual(all);
    const some = await open({ fileTools: ["list_dir", "apply_patch"] });
    expect(names(some.orchestrator.listTools())).toEqual(["apply_patch", "list_dir"]);
    const none = await open({ fileTools: false });
    expect(names(none.orchestrator.listTools())).toEqual([]);
    expect(await none.call("apply_patch", { input: "x" })).toMatchObject({ structured: { code: "unknown_tool" } });
    await expect(open({ fileTools: ["rm" as never] })).rejects.toThrow(
      'fileTools has "rm"; expected apply_patch, view_image',
    );
  });

  it("give way to those of an executor", async () => {
    const own: ExecutorTool = {
      spec: { name: "read_file", description: "Mine.", inputSchema: { type: "object" } },
      call: async () => ({ status: "success", content: [{ type: "input_text", text: "mine" }] }),
    };
    const { orchestrator, call } = await open({ tools: [own] });
    expect(orchestrator.listTools().filter(({ name }) => name === "read_file")).toHaveLength(1);
    expect((await call("read_file", { path: "a.txt" })).text).toContain("mine");
  });

  it.each([
    ["apply_patch", {}, "field `input`"],
    ["apply_patch", { input: 3 }, "field `input`"],
    ["apply_patch", { input: "no patch" }, "Begin Patch"],
    ["view_image", {}, "field `path`"],
    ["read_file", { path: "" }, "field `path`"],
    ["read_file", { path: "a.txt", offset: 0 }, "field `offset`"],
    ["read_file", { path: "a.txt", limit: 1e9 }, "field `limit`"],
    ["list_dir", { depth: 99 }, "field `depth`"],
  ])("say what is wrong with the arguments: %s %j", async (name, args, problem) => {
    const { call } = await open();
    const result = await call(name, args);
    expect(result).toMatchObject({ isError: true, structured: { code: "invalid_arguments" } });
    expect(result.text).toContain(problem);
  });

  it("read lines with their numbers, and say how to read on", async () => {
    const { cwd, call } = await open();
    writeFileSync(join(cwd, "long.txt"), Array.from({ length: 3000 }, (_, n) => `line ${n + 1}\n`).join(""));
    const { text } = await call("read_file", { path: "long.txt", limit: 3 });
    expect(text).toBe("L1: line 1\nL2: line 2\nL3: line 3\n(2997 more lines: go on with offset 4)");
    expect((await call("read_file", { path: "long.txt", offset: 3000 })).text).toBe("L3000: line 3000");
    expect((await call("read_file", { path: "long.txt", offset: 3001 })).text).toContain(
      "has 3000 lines, and line 3001 was asked for",
    );
    writeFileSync(join(cwd, "bytes"), new Uint8Array([255, 0, 255]));
    expect((await call("read_file", { path: "bytes" })).text).toContain("is not text");
    writeFileSync(join(cwd, "wide.txt"), "x".repeat(5000));
    expect((await call("read_file", { path: "wide.txt" })).text).toMatch(
      /^L1: x{2000} \(3000 more characters in this line\)$/,
    );
    writeFileSync(join(cwd, "empty"), "");
    expect((await call("read_file", { path: "empty" })).text).toBe("(the file is empty)");
    expect((await call("read_file", { path: "." })).text).toContain("is a directory, not a file");
  });

  it("list directories, indented, within bounds", async () => {
    const { cwd, call } = await open();
    mkdirSync(join(cwd, "b/c"), { recursive: true });
    writeFileSync(join(cwd, "b/c/deep"), "");
    expect((await call("list_dir", {})).text).toBe(`Absolute path: ${cwd}\na.txt\nb/\n  c/`);
    expect((await call("list_dir", { path: "b", depth: 3 })).text).toBe(`Absolute path: ${cwd}/b\nc/\n  deep`);
    expect((await call("list_dir", { limit: 2 })).text).toContain("(there are more than 2 entries");
    expect((await call("list_dir", { path: "a.txt" })).text).toContain("is not a directory");
    expect((await call("list_dir", { path: "none" })).text).toContain("does not exist");
  });
});

describe.runIf(kind === "bubblewrap" || kind === "seatbelt")("the tools for files, in a sandbox", () => {
  it("change what commands may change, without a question", async () => {
    const { cwd, asked, events, patch } = await open();
    const result = await patch("*** Update File: a.txt", "@@", "-two", "+zwei");
    expect(result.text).toMatch(/Success\. Updated the following files:\nM a\.txt\n$/);
    expect(result.structured).toMatchObject({ changes: [{ path: join(cwd, "a.txt"), change: "update" }] });
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\nzwei\n");
    expect(asked).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(["call", "result"]);
    expect(events[0]).toMatchObject({ tool: "apply_patch", environment: "local", runs: true, decidedBy: "policy" });
  });

  it("ask about anything else, and show the whole patch", async () => {
    const refused = await open();
    const outside = join(refused.root, "outside.txt");
    const lines = [`*** Add File: ${outside}`, "+x"];
    const denied = await refused.patch(...lines);
    expect(denied).toMatchObject({ status: "denied", structured: { code: "denied" } });
    expect(existsSync(outside)).toBe(false);
    expect(refused.asked[0]).toMatchObject({ toolName: "apply_patch", command: ["apply_patch", render(lines)] });
    const allowed = await open({}, "accept");
    const there = join(allowed.root, "outside.txt");
    expect((await allowed.patch(`*** Add File: ${there}`, "+x")).isError).toBe(false);
    expect(readFileSync(there, "utf8")).toBe("x\n");
  });

  it("also where the patch was a command, or leads there by a link", async () => {
    const { root, cwd, asked, call, patch } = await open();
    const script = `apply_patch <<'EOF'\n${render([`*** Add File: ${root}/o.txt`, "+x"])}\nEOF`;
    expect(await call("exec_command", { cmd: script })).toMatchObject({ status: "denied" });
    symlinkSync(root, join(cwd, "link"));
    expect(await patch("*** Add File: link/p.txt", "+x")).toMatchObject({ isError: true });
    expect(asked).toHaveLength(1);
    expect(existsSync(join(root, "o.txt"))).toBe(false);
    expect(existsSync(join(root, "p.txt"))).toBe(false);
  });

  it("make all changes of a patch, or none", async () => {
    const { cwd, patch } = await open();
    const lines = ["*** Delete File: a.txt", "*** Update File: none.txt", "@@", "-x", "+y"];
    expect(await patch(...lines)).toMatchObject({ isError: true, structured: { code: "tool_failed" } });
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\n");
  });

  it("read nothing that is denied to commands", async () => {
    const secret = join(realpathSync(mkdtempSync(join(tmpdir(), "denied-"))), "secret.png");
    onTestFinished(() => rmSync(join(secret, ".."), { recursive: true }));
    writeFileSync(secret, "secret words");
    const sandbox = createSandboxSelector({ mode: "workspace-write", denyRead: [secret] });
    const { call, patch } = await open({ policy: { approvalPolicy: "never", sandbox } });
    for (const name of ["read_file", "view_image"]) {
      const result = await call(name, { path: secret });
      expect(result).toMatchObject({ isError: true });
      expect(result.text).not.toContain("words");
    }
    const patched = await patch(`*** Update File: ${secret}`, "@@", "-secret words", "+x");
    expect(patched).toMatchObject({ isError: true });
    expect(patched.text).not.toContain("words");
    expect(readFileSync(secret, "utf8")).toBe("secret words");
  });

  it("are judged without a change, and carried out as granted", async () => {
    const { orchestrator, root, cwd } = await open();
    const input = render([`*** Add File: ${root}/granted.txt`, "+x"]);
    const judged = await orchestrator.judge("apply_patch", { input }, { cwd });
    expect(judged).toMatchObject({ kind: "ask", request: { toolName: "apply_patch" } });
    if (judged.kind !== "ask") throw new Error("it is asked about");
    expect(existsSync(`${root}/granted.txt`)).toBe(false);
    const grant = { digest: judged.digest, decision: "accept", by: "client" } as const;
    const other = render([`*** Add File: ${root}/other.txt`, "+x"]);
    expect(await orchestrator.callTool("apply_patch", { input: other }, { cwd, grant })).toMatchObject({
      structured: { code: "changed" },
    });
    expect((await orchestrator.callTool("apply_patch", { input }, { cwd, grant })).isError).toBe(false);
    expect(readFileSync(`${root}/granted.txt`, "utf8")).toBe("x\n");
  });

  it("are asked about and told to hooks by the names of Codex", async () => {
    const { createHooks, readHooks } = await import("../../hooks/src/node/index.js");
    const log = join(realpathSync(mkdtempSync(join(tmpdir(), "hooked-"))), "log");
    onTestFinished(() => rmSync(join(log, ".."), { recursive: true }));
    const note = { hooks: [{ type: "command", command: `cat >> '${log}'; echo >> '${log}'` }] };
    const guard = {
      matcher: "Edit",
      hooks: [{ type: "command", command: "grep -q never && echo no >&2 && exit 2; true" }],
    };
    const hooks = createHooks({
      hooks: readHooks({ PreToolUse: [note, guard], PostToolUse: [note] }, { file: "/h" }).hooks,
      directory: "/",
    });
    const { cwd, call, patch } = await open({ hooks });
    await patch("*** Add File: b.txt", "+b");
    const blocked = await patch("*** Add File: never.txt", "+b");
    expect(blocked.text).toContain("Command blocked by PreToolUse hook: no. Command: *** Begin Patch");
    expect(existsSync(join(cwd, "never.txt"))).toBe(false);
    await call("read_file", { path: "b.txt" });
    const seen = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(seen.map(({ hook_event_name: event, tool_name: tool }) => [event, tool])).toEqual([
      ["PreToolUse", "apply_patch"],
      ["PostToolUse", "apply_patch"],
      ["PreToolUse", "apply_patch"],
      ["PreToolUse", "read_file"],
      ["PostToolUse", "read_file"],
    ]);
    expect(seen[0].tool_input.command).toMatch(/^\*\*\* Begin Patch/);
    expect(seen[4]).toMatchObject({ tool_input: { path: "b.txt" }, tool_response: "L1: b" });
  });
});
