import { explainPatchCommand, parsePatchScript } from "@codex/apply-patch";
import type { AgentTool, AgentToolResult, InterceptedCall, ToolContext } from "../agent-tool.js";
import { createPatchGrammar, describePatch } from "./patch-spec.js";
import { type PatchCall, type PatchOptions, type PatchResult, recoverPatch, runPatch } from "./run-patch.js";

/**
 * Creates `apply_patch`, which also intercepts `exec_command` scripts that consist of a patch only. A patch is applied
 * completely or not at all; if it cannot be rolled back, the result lists the state of each file.
 */
export function createApplyPatchTool(options: PatchOptions): AgentTool {
  const { ids } = options.environments;
  return {
    spec: {
      name: "apply_patch",
      description: describePatch(ids),
      inputSchema: {
        type: "object",
        properties: { input: { type: "string", description: "The whole patch." } },
        required: ["input"],
        additionalProperties: false,
      },
      grammar: createPatchGrammar(ids),
    },
    exclusive: true,
    needsEnvironment: true,
    async call(args, context) {
      const call = toCall(args);
      return call === undefined ? failed(NO_INPUT) : runPatch(call, context, options);
    },
    async recover(args, context, checkpoint) {
      const call = toCall(args);
      return call === undefined ? NO_INPUT : recoverPatch(call, context, options, checkpoint);
    },
    intercept: (name, args) => (name === "exec_command" ? interceptScript(args, options) : undefined),
    remark: (name, { cmd }, result) => {
      const isMissing = name === "exec_command" && typeof cmd === "string" && NOT_FOUND.test(result);
      return isMissing ? explainPatchCommand(cmd) : undefined;
    },
  };
}

/** Shell errors for a missing program; dash prints "Permission denied" when a directory of `PATH` is unreadable. */
const NOT_FOUND = /\bapply_?patch\b.{0,40}(?:not found|Permission denied)|not found.{0,40}\bapply_?patch\b/;

const NO_INPUT = "apply_patch takes `input`: a text with the whole patch, from '*** Begin Patch' to '*** End Patch'.";

function toCall({ input, patch, environment_id }: Readonly<Record<string, unknown>>): PatchCall | undefined {
  const text = input ?? patch;
  if (typeof text !== "string") return undefined;
  return { text, environment: typeof environment_id === "string" ? environment_id : undefined, directories: [] };
}

function interceptScript(args: Readonly<Record<string, unknown>>, options: PatchOptions): InterceptedCall | undefined {
  const { cmd, workdir, environment_id } = args;
  const script = typeof cmd === "string" ? parsePatchScript(cmd) : undefined;
  if (script === undefined) return undefined;
  if (script.kind === "refused") return { call: async () => failed(script.reason) };
  const call: PatchCall = {
    text: script.text,
    environment: typeof environment_id === "string" ? environment_id : undefined,
    directories: [typeof workdir === "string" && workdir !== "" ? workdir : undefined, script.directory],
  };
  return {
    exclusive: true,
    call: async (context: ToolContext) => asCommand(await runPatch(call, context, options)),
    recover: (context: ToolContext, checkpoint) => recoverPatch(call, context, options, checkpoint),
  };
}

/** Formats a result like that of `exec_command`, which the model called. */
function asCommand({ wasBegun, ...result }: PatchResult): AgentToolResult {
  return wasBegun ? { ...result, output: `Wall time: 0.0000 seconds\nOutput:\n${result.output}` } : result;
}

const failed = (output: string): AgentToolResult => ({ output, status: "failed" });
