import * as z from "zod/mini";
import { processIdSchema } from "./scalars.js";
import { unifiedExecResultSchema } from "./unified-exec-result.js";

/** Resolution that a tool asks of the orchestrator before its arguments go on the wire. */
export const toolContractSchema = z.enum(["unified_exec.exec_command", "unified_exec.write_stdin"]);
/** How the orchestrator resolves the arguments of a tool before they are sent. */
export type ToolContract = z.infer<typeof toolContractSchema>;

/** A tool as an executor advertises it. `inputSchema` is JSON schema of the model-facing arguments. */
export const executorToolSpecSchema = z.object({
  name: z.string().check(z.minLength(1)),
  description: z.string(),
  inputSchema: z.unknown(),
  contract: z.optional(z.string()),
  /** The tool may do what a person should decide about: the orchestrator asks before each call, as its policy says. Default false. */
  asksApproval: z.optional(z.boolean()),
});
/** A tool as an executor advertises it. */
export type ExecutorToolSpec = z.infer<typeof executorToolSpecSchema>;

/** A part of what a model reads as the result of a call: text. */
export const toolCallContentSchema = z.object({ type: z.literal("input_text"), text: z.string() });
/** A part of what a model reads as the result of a call. */
export type ToolCallContent = z.infer<typeof toolCallContentSchema>;

/** The outcome of a tool call. A command that exits with a code other than 0 is a `success` of the tool. */
export const toolCallOutcomeSchema = z.discriminatedUnion("status", [
  z.object({
    status: z.literal("success"),
    content: z.array(toolCallContentSchema),
    structured: z.optional(z.union([unifiedExecResultSchema, z.record(z.string(), z.unknown())], "an object")),
  }),
  z.object({
    status: z.literal("error"),
    message: z.string(),
    /** An error code for programs, such as `program_not_found` of a command that was not started. */
    code: z.optional(z.string()),
    /** The session that it is about: `message` then continues `session 5 `, or `unknown session 5; ` with the code `unknown_session`. */
    sessionId: z.optional(processIdSchema),
  }),
]);
/** The outcome of a tool call: content for the model and `structured` for programs, or an error. */
export type ToolCallOutcome = z.infer<typeof toolCallOutcomeSchema>;
