import * as z from "zod/mini";
import { execGateSchema } from "./exec-gate.js";
import { managedNetworkSchema } from "./managed-network.js";
import { resourceLimitsSchema } from "./resource-limits.js";
import { sandboxSchema } from "./sandbox.js";
import { countSchema, keySchema, nullable, processIdSchema } from "./scalars.js";

/** Proposed execution-policy amendment: an argv prefix. */
export const execPolicyAmendmentSchema = z.array(z.string());
/** Proposed execution-policy amendment: an argv prefix. */
export type ExecPolicyAmendment = z.infer<typeof execPolicyAmendmentSchema>;

const ONE_REQUIREMENT = "exactly one of `skip`, `needsApproval`, `forbidden`";

/** Approval plan chosen by the orchestrator, externally tagged: exactly one of the three members. */
export const execApprovalRequirementSchema = z.union(
  [
    z.strictObject(
      {
        skip: z.object({
          bypassSandbox: z.boolean(),
          proposedExecPolicyAmendment: nullable(execPolicyAmendmentSchema),
        }),
      },
      ONE_REQUIREMENT,
    ),
    z.strictObject(
      {
        needsApproval: z.object({
          reason: nullable(z.string()),
          proposedExecPolicyAmendment: nullable(execPolicyAmendmentSchema),
        }),
      },
      ONE_REQUIREMENT,
    ),
    z.strictObject({ forbidden: z.object({ reason: z.string() }) }, ONE_REQUIREMENT),
  ],
  ONE_REQUIREMENT,
);
/** The approval that a command needs, as determined by the orchestrator. An executor only runs commands with `skip`. */
export type ExecApprovalRequirement = z.infer<typeof execApprovalRequirementSchema>;

/** What a command asks of its sandbox: the selected one, none, or more permissions within it. */
export const sandboxPermissionsSchema = z.enum(["use_default", "require_escalated", "with_additional_permissions"]);
/** What a command asks of its sandbox: the selected one, none, or more permissions within it. */
export type SandboxPermissions = z.infer<typeof sandboxPermissionsSchema>;

/**
 * How the executor derives the base environment from its own. Order: inherit, default excludes (names matching
 * *KEY*, *SECRET*, *TOKEN*), `exclude`, `set`, `includeOnly`; the request's `env` is merged over the result.
 */
export const envPolicySchema = z.object({
  inherit: z.enum(["all", "core", "none"]),
  ignoreDefaultExcludes: z.boolean(),
  exclude: z.array(z.string()),
  set: z.record(z.string(), z.string()),
  includeOnly: z.array(z.string()),
});
/** How the executor derives the base environment of a command from its own. */
export type EnvPolicy = z.infer<typeof envPolicySchema>;

/** Rows and columns of a terminal, each 1 to 65,535. */
export const terminalSizeSchema = z.object({
  rows: z.int().check(z.minimum(1), z.maximum(65_535)),
  cols: z.int().check(z.minimum(1), z.maximum(65_535)),
});
/** Rows and columns of a terminal, each 1 to 65,535. */
export type TerminalSize = z.infer<typeof terminalSizeSchema>;

/**
 * What ends a wait before its window does. `exit`: only the end of the process. `output`: any new output. `prompt`: the
 * program seems to wait for input, a hint.
 */
export const waitUntilSchema = z.enum(["exit", "output", "prompt"]);
/** What ends a wait before its window does. */
export type WaitUntil = z.infer<typeof waitUntilSchema>;

const ARGV = "a non-empty array of strings";

/**
 * What happens when a session has more output than is kept in memory. `pause`: the program waits until it was received.
 * `spill`: the middle goes to a file of bounded size, and is dropped beyond that. `drop`: the middle is dropped.
 */
export const whenFullSchema = z.enum(["pause", "spill", "drop"]);
/** What happens when a session has more output than is kept in memory. */
export type WhenFull = z.infer<typeof whenFullSchema>;

/** Wire arguments of a tool with contract `unified_exec.exec_command`: resolved by the orchestrator. */
export const execCommandRequestSchema = z.object({
  /** Final argv. */
  command: z.array(z.string(), ARGV).check(z.minLength(1, ARGV)),
  /** Absolute directory on the executor's host. */
  cwd: z.string(),
  /** The complete environment, or the overlay when `envPolicy` is present. */
  env: z.record(z.string(), z.string()),
  tty: z.boolean(),
  /** Window of the first poll, milliseconds. */
  yieldTimeMs: countSchema,
  /** Budget of the result, tokens of 4 bytes. */
  maxOutputTokens: countSchema,
  sandboxPermissions: sandboxPermissionsSchema,
  additionalPermissions: nullable(z.record(z.string(), z.unknown())),
  additionalPermissionsPreapproved: z.boolean(),
  justification: nullable(z.string()),
  execApprovalRequirement: execApprovalRequirementSchema,
  envPolicy: z.optional(envPolicySchema),
  /** `[shell, "-lc", script]` may be started from a snapshot of what the shell's startup files set up. Default false. */
  shellSnapshot: z.optional(z.boolean()),
  /** The selected sandbox; an executor that cannot apply it refuses the request. */
  sandbox: z.optional(z.nullable(sandboxSchema)),
  /** Rules for every program that the command starts. Where this host cannot hold them, the result says so. */
  execGate: z.optional(execGateSchema),
  /** The network of a command in a sandbox, instead of what that says of it. */
  network: z.optional(managedNetworkSchema),
  /** What the command may use; where the executor has limits as well, the stricter ones hold. One that cannot be held is refused. */
  limits: z.optional(resourceLimitsSchema),
  idempotencyKey: z.optional(keySchema),
  /** Hard limit of the process, milliseconds; ends the session with `by: "timeout"`. */
  timeoutMs: z.optional(z.int().check(z.positive())),
  approvalId: z.optional(z.string()),
  /** With capability `detached`: the session stays when its orchestrator goes, until it ends. Default false. */
  detached: z.optional(z.boolean()),
  /** `open` keeps a pipe writable; the default `null` is /dev/null. No effect with `tty`. */
  stdin: z.optional(z.enum(["null", "open"])),
  /** Size of the terminal, default 24 × 80. */
  size: z.optional(terminalSizeSchema),
  /** Default `exit`. */
  until: z.optional(waitUntilSchema),
  /** Default `spill`. */
  whenFull: z.optional(whenFullSchema),
});
/** Wire arguments of `exec_command`, resolved: final argv, absolute directory, environment, sandbox. */
export type ExecCommandRequest = z.infer<typeof execCommandRequestSchema>;

/** A signal to a session by its purpose: SIGINT, SIGTERM, SIGKILL or SIGHUP. */
export const sessionSignalSchema = z.enum(["interrupt", "terminate", "kill", "hangup"]);
/** A signal to a session by its purpose: SIGINT, SIGTERM, SIGKILL or SIGHUP. */
export type SessionSignal = z.infer<typeof sessionSignalSchema>;

/** Wire arguments of a tool with contract `unified_exec.write_stdin`. */
export const writeStdinRequestSchema = z.object({
  processId: processIdSchema,
  input: z.string(),
  /** `base64`: `input` has bytes that need not be text. Default `utf8`. */
  inputEncoding: z.optional(z.enum(["utf8", "base64"])),
  yieldTimeMs: countSchema,
  maxOutputTokens: countSchema,
  /** A repeated id gets the first result and writes nothing. */
  writeId: z.optional(keySchema),
  closeStdin: z.optional(z.boolean()),
  resize: z.optional(terminalSizeSchema),
  signal: z.optional(sessionSignalSchema),
  /** Default `exit`. `written`: the program has taken all of `input`. */
  until: z.optional(z.enum([...waitUntilSchema.options, "written"])),
  /** With capability `detached`: from now on the session stays when its orchestrator goes. */
  detach: z.optional(z.boolean()),
  /** Done immediately, concurrently with a call that waits on the session; returns as with `until: "written"`, and without output. */
  concurrent: z.optional(z.boolean()),
});
/** Wire arguments of `write_stdin`, resolved. */
export type WriteStdinRequest = z.infer<typeof writeStdinRequestSchema>;
