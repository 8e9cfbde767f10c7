import { toWireSandbox } from "@codex/exec-server-protocol";
import type { Sandbox } from "@codex/executor-protocol";
import type { AgentFiles } from "@codex/file-tools";
import type { Approver } from "@codex/orchestrator";
import { type ApprovalPolicy, createSandboxSelector } from "@codex/policy";
import { scriptedChannel } from "../../../../orchestrator/test/support/executors.js";
import { stage } from "../../../../orchestrator/test/support/orchestrators.js";
import type { ToolContext } from "../../../src/tools/agent-tool.js";
import { createApplyPatchTool } from "../../../src/tools/patch/apply-patch.js";
import { createFilePolicy } from "../../../src/tools/patch/file-policy.js";

/** A patch of these lines. */
export const patchOf = (...lines: readonly string[]): string =>
  ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");

interface Options {
  approvalPolicy?: ApprovalPolicy;
  mode?: "read-only" | "workspace-write" | "danger-full-access";
  approver?: Approver;
  /** Ids of environments with the same files. */
  ids?: readonly string[];
  signal?: AbortSignal;
}

/** What a call of the tool came to, and what it showed. */
export interface Called {
  output: string;
  status: string | undefined;
  shown: unknown[];
  endsTurn: boolean | undefined;
}

/** The tool on files below a directory; never asks and is not confined unless told otherwise. */
export function createPatchTool(files: AgentFiles, root: string, options: Options = {}) {
  const { approvalPolicy = "never", mode = "danger-full-access", approver, ids = ["box"], signal } = options;
  let numbers = 0;
  const newId = () => String(++numbers);
  const sandbox = createSandboxSelector({ mode, excludeSlashTmp: true, excludeTmpdirEnvVar: true });
  const { orchestrator } = stage({ policy: { approvalPolicy, sandbox }, ...(approver && { approver }) });
  // A host that can sandbox.
  const attach = (name: string) =>
    orchestrator.attach({
      name,
      channel: scriptedChannel({ sandbox: { kind: "bubblewrap" } }).channel,
      shutdownOnClose: false,
    });
  const ready = Promise.all(ids.map(attach));
  ready.catch(() => {}); // the calls report it
  const policy = createFilePolicy({
    files: {
      decide: (...args) => ready.then(() => orchestrator.files.decide(...args)),
      sandboxOf: (place) => ready.then(() => orchestrator.files.sandboxOf(place)),
    },
    workspaceRootsOf: () => [root],
    toFileSandbox: (given: Sandbox) => toWireSandbox(given),
  });
  const environments = {
    ids,
    get: async (id: string | undefined) =>
      id === undefined || ids.includes(id) ? { id: id ?? ids[0]!, files, cwd: root } : undefined,
  };
  let saved: string | undefined;
  const tool = createApplyPatchTool({ environments, policy, clock: { now: () => 0 }, newId });
  const contextOf = (shown: unknown[]): ToolContext => ({
    callId: "c1",
    signal: signal ?? new AbortController().signal,
    cwd: root,
    environment: ids[0],
    getSelected: (id) => ({ cwd: id === ids[0] ? root : undefined }),
    show: (details) => void shown.push(details),
    saveCheckpoint: async (checkpoint) => {
      saved = JSON.stringify(checkpoint);
    },
  });
  return {
    tool,
    async call(args: Record<string, unknown>, name = "apply_patch"): Promise<Called> {
      const shown: unknown[] = [];
      const taken = tool.intercept?.(name, args);
      if (name !== "apply_patch" && taken === undefined) throw new Error("not taken");
      const answer = await (taken === undefined ? tool.call(args, contextOf(shown)) : taken.call(contextOf(shown)));
      if (typeof answer.output !== "string") throw new Error("no text");
      return { output: answer.output, status: answer.status, shown, endsTurn: answer.endsTurn };
    },
    /** What the last call saved, as it is read from a thread. */
    getCheckpoint: (): unknown => (saved === undefined ? undefined : JSON.parse(saved)),
    recover: (input: string, checkpoint?: unknown) => tool.recover!({ input }, contextOf([]), checkpoint),
  };
}
