import * as z from "zod/mini";

// Arguments of the two tools with a contract. Models write null for arguments that they leave out.
const maybe = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.optional(z.nullable(schema)),
    z.transform((value) => value ?? undefined),
  );
const count = z.number().check(z.minimum(0));
const until = maybe(z.enum(["exit", "output", "prompt"]));
const dimension = z.int().check(z.minimum(1), z.maximum(65_535));

const additionalPermissionsSchema = z.object({
  file_system: maybe(z.object({ read: maybe(z.array(z.string())), write: maybe(z.array(z.string())) })),
  network: maybe(z.object({ enabled: maybe(z.boolean()) })),
});
export type AdditionalPermissions = z.infer<typeof additionalPermissionsSchema>;

export const execCommandArgumentsSchema = z.object({
  cmd: z.string(),
  workdir: maybe(z.string()),
  shell: maybe(z.string()),
  login: maybe(z.boolean()),
  tty: maybe(z.boolean()),
  yield_time_ms: maybe(count),
  max_output_tokens: maybe(count),
  sandbox_permissions: maybe(z.enum(["use_default", "require_escalated", "with_additional_permissions"])),
  justification: maybe(z.string()),
  prefix_rule: maybe(z.array(z.string())),
  additional_permissions: maybe(additionalPermissionsSchema),
  /** `open` keeps a pipe writable. */
  stdin: maybe(z.enum(["null", "open"])),
  /** Hard limit of the process, milliseconds. */
  timeout_ms: maybe(z.int().check(z.minimum(1))),
  until,
});
export type ExecCommandArguments = z.infer<typeof execCommandArgumentsSchema>;

export const writeStdinArgumentsSchema = z.object({
  session_id: z.int(),
  chars: maybe(z.string()),
  yield_time_ms: maybe(count),
  max_output_tokens: maybe(count),
  until,
  close_stdin: maybe(z.boolean()),
  signal: maybe(z.enum(["interrupt", "terminate", "kill", "hangup"])),
  resize: maybe(z.object({ rows: dimension, cols: dimension })),
});
