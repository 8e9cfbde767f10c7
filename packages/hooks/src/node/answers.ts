import { cutEnd } from "@codex/values";
import * as z from "zod/mini";
import type { HookEvent } from "../hook.js";
import { MAX_CONTEXT_CHARS } from "./limits.js";
import type { HookRun } from "./run-command.js";

/** What one run of a hook says. */
export interface Answer {
  /** Why it has failed: what it would have said is unknown. */
  readonly failure?: string;
  /** For the user. */
  readonly message?: string;
  /** For the model. */
  readonly context?: string;
  /** It refuses, or has something to say about it, for this reason. */
  readonly block?: string;
  /** It allows what was asked. */
  readonly allows?: true;
  /** Instead of the input of the tool. */
  readonly input?: unknown;
  /** It ends the turn, for this reason; may be empty. */
  readonly stop?: string;
}

const text = z.nullish(z.string());
const universal = {
  continue: z._default(z.boolean(), true),
  stopReason: text,
  suppressOutput: z._default(z.boolean(), false),
  systemMessage: text,
};
const specific = <Shape extends Record<string, z.ZodMiniType>>(shape: Shape) =>
  z.nullish(z.strictObject({ hookEventName: z.string(), ...shape }));
const withContext = specific({ additionalContext: text });

const schemas = {
  PreToolUse: z.strictObject({
    ...universal,
    decision: z.nullish(z.enum(["approve", "block"])),
    reason: text,
    hookSpecificOutput: specific({
      permissionDecision: z.nullish(z.enum(["allow", "deny", "ask"])),
      permissionDecisionReason: text,
      updatedInput: z.optional(z.unknown()),
      additionalContext: text,
    }),
  }),
  PermissionRequest: z.strictObject({
    ...universal,
    hookSpecificOutput: specific({
      decision: z.nullish(
        z.strictObject({
          behavior: z.enum(["allow", "deny"]),
          updatedInput: z.optional(z.unknown()),
          updatedPermissions: z.optional(z.unknown()),
          message: text,
          interrupt: z._default(z.boolean(), false),
        }),
      ),
    }),
  }),
  PostToolUse: z.strictObject({
    ...universal,
    decision: z.nullish(z.enum(["block"])),
    reason: text,
    hookSpecificOutput: specific({
      additionalContext: text,
      updatedToolOutput: z.optional(z.unknown()),
      updatedMCPToolOutput: z.optional(z.unknown()),
    }),
  }),
  SessionStart: z.strictObject({ ...universal, hookSpecificOutput: withContext }),
  UserPromptSubmit: z.strictObject({
    ...universal,
    decision: z.nullish(z.enum(["block"])),
    reason: text,
    hookSpecificOutput: withContext,
  }),
  Stop: z.strictObject({ ...universal, decision: z.nullish(z.enum(["block"])), reason: text }),
  Compact: z.strictObject(universal),
  Told: z.strictObject({ systemMessage: text }),
};

/** Reads what a run of a hook says, as Codex does. */
export function readAnswer(event: HookEvent, run: HookRun): Answer {
  if (run.kind === "failed") return { failure: run.reason };
  const { code, stderr } = run;
  if (code === 2 && ASKED.includes(event)) {
    const block = stderr.trim();
    return block === "" ? { failure: "it exited with code 2 and wrote no reason to stderr" } : { block };
  }
  if (code !== 0) {
    const ended = `it exited with code ${code}`;
    return isFailure(code, stderr) ? { failure: ended } : { message: `${ended}, which decides nothing` };
  }
  const stdout = run.stdout.trim();
  return stdout === "" ? {} : readOutput(event, stdout);
}

/**
 * Whether a hook has failed that ended with another code than 0 and 2: it could not be started, or was killed, or says what went wrong. A line
 * such as `[[ $x == y ]] && exit 2` also ends with 1 where it has nothing to say.
 */
const isFailure = (code: number, stderr: string): boolean => code >= NOT_EXECUTABLE || stderr.trim() !== "";

/** Codes from here on are a shell's: for what cannot be executed or is not there, and for signals. */
const NOT_EXECUTABLE = 126;

/** At other events there is nothing to refuse. */
const ASKED: readonly HookEvent[] = ["PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop"];

function readOutput(event: HookEvent, stdout: string): Answer {
  switch (event) {
    case "PreToolUse":
      return readJson(schemas.PreToolUse, stdout, readPreToolUse);
    case "PermissionRequest":
      return readJson(schemas.PermissionRequest, stdout, readPermissionRequest);
    case "PostToolUse":
      return readJson(schemas.PostToolUse, stdout, readPostToolUse);
    case "SessionStart":
      return readJson(schemas.SessionStart, stdout, readSessionStart, asContext);
    case "UserPromptSubmit":
      return readJson(schemas.UserPromptSubmit, stdout, readPrompt, asContext);
    case "Stop":
      return readJson(schemas.Stop, stdout, readStop, notJson);
    case "PreCompact":
    case "PostCompact":
      return readJson(schemas.Compact, stdout, stopOf);
    case "SubagentStart":
    case "SubagentStop":
    case "Interrupt":
    case "SessionEnd":
      return readJson(schemas.Told, stdout, () => ({}), notJson);
  }
}

/** @param plain reads an output that is not meant to be JSON */
function readJson<Output extends { systemMessage?: string | null | undefined }>(
  schema: z.ZodMiniType<Output>,
  stdout: string,
  read: (output: Output) => Answer,
  plain: (stdout: string) => Answer = () => ({}),
): Answer {
  if (!/^[{[]/.test(stdout)) return plain(stdout);
  const parsed = z.safeParse(schema, parseOrUndefined(stdout));
  if (!parsed.success) return { failure: "its output is not the JSON of this event" };
  const { systemMessage } = parsed.data;
  return { ...(systemMessage == null ? {} : { message: systemMessage }), ...read(parsed.data) };
}

function parseOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const asContext = (stdout: string): Answer => ({ context: cut(stdout) });

const notJson = (): Answer => ({ failure: "its output is not JSON" });

type Output<Event extends keyof typeof schemas> = z.infer<(typeof schemas)[Event]>;

function readPreToolUse(output: Output<"PreToolUse">): Answer {
  const unsupported = findUnsupported(output, ["continue", "stopReason", "suppressOutput"]);
  if (unsupported !== undefined) return unsupported;
  const own = output.hookSpecificOutput;
  const context = contextOf(own);
  const isOwn = own?.permissionDecision != null || own?.permissionDecisionReason != null || own?.updatedInput != null;
  if (!isOwn) {
    const { decision, reason } = output;
    if (decision === "block") return { ...context, ...blockFor("decision", reason) };
    return decision == null && reason != null ? { failure: "it gave a reason without a decision" } : context;
  }
  const { permissionDecision, permissionDecisionReason: reason, updatedInput } = own;
  if (permissionDecision === "deny") return { ...context, ...blockFor("permissionDecision", reason) };
  if (permissionDecision === "ask") return { failure: "`permissionDecision: ask` is not supported" };
  if (permissionDecision === "allow") return updatedInput == null ? context : { ...context, input: updatedInput };
  return updatedInput == null
    ? { failure: "it gave a reason without a decision" }
    : { failure: "it changed the input without `permissionDecision: allow`" };
}

function readPermissionRequest(output: Output<"PermissionRequest">): Answer {
  const unsupported = findUnsupported(output, ["continue", "stopReason", "suppressOutput"]);
  if (unsupported !== undefined) return unsupported;
  const decision = output.hookSpecificOutput?.decision;
  if (decision == null) return {};
  const { behavior, message, interrupt, updatedInput, updatedPermissions } = decision;
  if (updatedInput != null || updatedPermissions != null || interrupt) {
    return { failure: "`updatedInput`, `updatedPermissions` and `interrupt` are not supported" };
  }
  if (behavior === "allow") return { allows: true };
  return { block: message?.trim() || "PermissionRequest hook denied approval" };
}

function readPostToolUse(output: Output<"PostToolUse">): Answer {
  const { decision, reason, stopReason } = output;
  if (!output.continue) {
    const stop = stopReason ?? "PostToolUse hook stopped execution";
    return { stop, block: reason?.trim() || stop };
  }
  const unsupported = findUnsupported(output, ["suppressOutput"]);
  if (unsupported !== undefined) return unsupported;
  const context = contextOf(output.hookSpecificOutput);
  if (decision === "block") return { ...context, ...blockFor("decision", reason) };
  return reason == null ? context : { failure: "it gave a reason without a decision" };
}

const readSessionStart = (output: Output<"SessionStart">): Answer => ({
  ...contextOf(output.hookSpecificOutput),
  ...stopOf(output),
});

function readPrompt(output: Output<"UserPromptSubmit">): Answer {
  const { decision, reason } = output;
  const context = contextOf(output.hookSpecificOutput);
  if (!output.continue) return { ...context, ...stopOf(output) };
  return decision === "block" ? { ...context, ...blockFor("decision", reason) } : context;
}

function readStop(output: Output<"Stop">): Answer {
  if (!output.continue) return stopOf(output);
  return output.decision === "block" ? blockFor("decision", output.reason) : {};
}

function blockFor(name: string, reason: string | null | undefined): Answer {
  const block = reason?.trim();
  return block ? { block } : { failure: `\`${name}\` needs a reason` };
}

const stopOf = ({ continue: goesOn, stopReason }: Pick<Output<"Stop">, "continue" | "stopReason">): Answer =>
  goesOn ? {} : { stop: stopReason ?? "" };

const contextOf = (own: { additionalContext?: string | null | undefined } | null | undefined): Answer =>
  own?.additionalContext == null ? {} : { context: cut(own.additionalContext) };

function findUnsupported(
  output: Pick<Output<"Stop">, "continue" | "stopReason" | "suppressOutput">,
  names: readonly ("continue" | "stopReason" | "suppressOutput")[],
): Answer | undefined {
  const isUsed = {
    continue: !output.continue,
    stopReason: output.stopReason != null,
    suppressOutput: output.suppressOutput,
  };
  const name = names.find((each) => isUsed[each]);
  return name === undefined ? undefined : { failure: `\`${name}\` is not supported at this event` };
}

const cut = (context: string): string =>
  context.length <= MAX_CONTEXT_CHARS
    ? context
    : `${cutEnd(context, MAX_CONTEXT_CHARS)}\n[${context.length - MAX_CONTEXT_CHARS} more characters of the hook are left out]`;
