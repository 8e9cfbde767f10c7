import * as z from "zod/mini";

/** An absolute path of the executor's host. */
const pathSchema = z.string();

const sandboxPathSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("path"), path: pathSchema }),
  /** `*`, `?`, `**` and classes; matched when the sandbox is set up. */
  z.object({ type: z.literal("glob_pattern"), pattern: z.string() }),
  z.object({
    type: z.literal("special"),
    value: z.object({
      kind: z.enum(["root", "minimal", "current_working_directory", "project_roots", "tmpdir", "slash_tmp", "unknown"]),
      /** Relative, below what `kind` names. */
      subpath: z.optional(z.string()),
    }),
  }),
]);

const fileSystemSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("unrestricted") }),
  z.object({
    type: z.literal("restricted"),
    entries: z.array(z.object({ path: sandboxPathSchema, access: z.enum(["read", "write", "deny", "none"]) })),
    /** Levels of directories below the fixed part of a pattern that are scanned. */
    glob_scan_max_depth: z.optional(z.int().check(z.nonnegative())),
  }),
]);

const networkSchema = z.enum(["restricted", "enabled"]);

/**
 * The sandbox that was selected for one command. The members are those of `sandbox` in the exec-server's `process/start`,
 * with native paths where that has file URLs. Members within `permissions` are in snake case.
 */
export const sandboxSchema = z.object({
  permissions: z.discriminatedUnion("type", [
    z.object({ type: z.literal("disabled") }),
    /** The command is sandboxed from outside already. */
    z.object({ type: z.literal("external"), network: networkSchema }),
    z.object({ type: z.literal("managed"), file_system: fileSystemSchema, network: networkSchema }),
  ]),
  /** What `current_working_directory` names. */
  cwd: z.optional(pathSchema),
  /** What `project_roots` names. */
  workspaceRoots: z.optional(z.array(pathSchema)),
  userHomeDir: z.optional(pathSchema),
  /** What `tmpdir` names. */
  temporaryDirectories: z.optional(z.array(pathSchema)),
});
/** The sandbox that was selected for one command. */
export type Sandbox = z.infer<typeof sandboxSchema>;

/** How much a sandbox allows: reading, writing in the workspace, or everything. */
export const sandboxModeSchema = z.enum(["read-only", "workspace-write", "danger-full-access"]);
/** How much a sandbox allows: reading, writing in the workspace, or everything. */
export type SandboxMode = z.infer<typeof sandboxModeSchema>;

/** How an executor can sandbox commands, as `initialize_response` describes it. */
export const sandboxSupportSchema = z.object({
  /** `none`: not at all on this host. */
  kind: z.enum(["bubblewrap", "seatbelt", "none"]),
  /** Why there is none, and how to fix that. */
  problem: z.optional(z.string()),
  /** The most this executor lets any command do. */
  ceiling: z.optional(
    z.object({
      mode: sandboxModeSchema,
      /** Directories within which commands may be started and, below `danger-full-access`, may write; empty for any. */
      roots: z.array(pathSchema),
      network: z.boolean(),
    }),
  ),
});
/** How an executor can sandbox commands. */
export type SandboxSupport = z.infer<typeof sandboxSupportSchema>;
