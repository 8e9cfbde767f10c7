import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionCall, type ReceivedRequest, respond, type Script, say } from "@codex/agent/testing";
import { createHooks, readHooks } from "@codex/hooks/node";
import type { Approver } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAgent } from "./turn/support.js";

type CaseHook = string | { matcher?: string; command: string; timeout?: number; async?: boolean };

/** A case of `conformance/cases/hooks.json`. */
interface Case {
  readonly event: string;
  readonly name: string;
  readonly hooks: readonly CaseHook[];
  /** What the model read in Codex 0.169.0, or what came of the request for approval. */
  readonly codex: string | readonly string[];
  /** What differs here on purpose: a refusal, for the reason `why`. */
  readonly here?: string;
  readonly why?: string;
}

const cases = JSON.parse(
  readFileSync(new URL("../../../conformance/cases/hooks.json", import.meta.url), "utf8"),
) as readonly Case[];

const FILE = "$HOME/hooks.json";

/** Runs the hooks of a case as the configuration would. */
function createCaseHooks({ event, hooks }: Pick<Case, "event" | "hooks">) {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "hooks-"));
  const groups = hooks.map((hook) => {
    const { matcher, ...handler } = typeof hook === "string" ? { command: hook } : hook;
    return { ...(matcher === undefined ? {} : { matcher }), hooks: [{ type: "command", ...handler }] };
  });
  const runner = createHooks({
    hooks: readHooks({ [event]: groups }, { file: FILE }).hooks,
    directory,
    shell: "/bin/bash",
    env: { ...process.env, MARK: join(directory, "mark") },
  });
  onTestFinished(() => {
    runner.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return runner;
}

/** What the model reads of a conversation, as the cases have it. */
function readByModel(requests: readonly ReceivedRequest[]): string[] {
  const input = requests.at(-1)?.body.input;
  if (input === undefined) return ["no request"];
  const textOf = (content: unknown) => (content as { text: string }[]).map(({ text }) => text).join("|");
  return input.slice(1).flatMap((item) => {
    if (item.type === "message") return `${String(item.role)}: ${textOf(item.content)}`;
    if (item.type === "function_call") return "call";
    const output = String(item.output);
    return `output: ${output.startsWith("Chunk ID") ? output.split("Output:\n")[1] : output}`;
  });
}

const commandScript: Script = [
  respond(functionCall("c1", "exec_command", { cmd: "echo hello", login: false })),
  say("done"),
];
const plainScript: Script = [say("done"), say("done two"), say("done three")];

/** The output with which a case differs on purpose. */
function withRefusal(codex: readonly string[], here: string): string[] {
  const [, reason = ""] = /^blocked: (.*)$/s.exec(here) ?? [];
  const refused = `output: Command blocked by PreToolUse hook: ${reason}. Command: echo hello`;
  return codex
    .filter((line) => !line.startsWith("developer:"))
    .map((line) => (line.startsWith("output:") ? refused : line));
}

const EVENTS = ["PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "Stop"];

/** The results of all cases of an event by their names, as they are and as they should be. The cases run at the same time. */
async function runCases(event: string, run: (each: Case) => Promise<unknown>, expect: (each: Case) => unknown) {
  const own = cases.filter((each) => each.event === event);
  const results = await Promise.all(own.map(async (each) => [each.name, await run(each)] as const));
  return {
    count: own.length,
    actual: Object.fromEntries(results),
    expected: Object.fromEntries(own.map((each) => [each.name, expect(each)])),
  };
}

describe("hooks decide as in Codex 0.169.0, but for one that fails, which refuses", () => {
  it.each(EVENTS)("%s", async (event) => {
    const isTool = event === "PreToolUse" || event === "PostToolUse";
    const { actual, expected, count } = await runCases(
      event,
      async (each) => {
        const hooks = createCaseHooks(each);
        const { thread, endpoint } = await startAgent(isTool ? commandScript : plainScript, {
          orchestrator: { hooks },
          agent: { hooks },
        });
        const { end } = await thread.run("go").result;
        return [end.type, ...readByModel(endpoint.requests)];
      },
      ({ codex, here }) => {
        const recorded = codex as readonly string[]; // as all of these events
        return ["turn_completed", ...(here === undefined ? recorded : withRefusal(recorded, here))];
      },
    );
    expect(count).toBeGreaterThanOrEqual(12);
    expect(actual).toEqual(expected);
  });

  it("PermissionRequest", async () => {
    const { actual, expected, count } = await runCases(
      "PermissionRequest",
      async (each) => {
        const hooks = createCaseHooks(each);
        let isAsked = false;
        const approver: Approver = {
          requestApproval: async () => {
            isAsked = true;
            return "decline";
          },
        };
        const { orchestrator, cwd } = await startAgent([], {
          orchestrator: { hooks, approver, policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" } },
        });
        const { isError, structured } = await orchestrator.callTool(
          "exec_command",
          { cmd: "touch a && ls", login: false },
          { cwd },
        );
        if (isAsked) return "asked";
        if (!isError || !("reason" in structured)) return "ran";
        return `${structured.code} by ${structured.by}: ${structured.reason.replace(/ \(asked because .*\)$/s, "")}`;
      },
      ({ codex, here = codex as string }) => here.replace("denied:", "denied by hook:"),
    );
    expect(count).toBeGreaterThanOrEqual(20);
    expect(actual).toEqual(expected);
  });
});
