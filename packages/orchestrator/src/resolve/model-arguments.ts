import {
  resourceLimitsSchema,
  STANDARD_TOOLS,
  sandboxPermissionsSchema,
  sessionSignalSchema,
  terminalSizeSchema,
} from "@codex/executor-protocol";
import * as z from "zod/mini";

/** Models write null for arguments that they leave out. */
const maybe = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.optional(z.nullable(schema)),
    z.transform((value) => value ?? undefined),
  );

/** A JSON schema of arguments, as far as the two tools with a contract use one. */
interface ArgumentsSchema {
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
  readonly required: readonly string[];
}

interface ArgumentSchema {
  readonly type: "string" | "number" | "integer" | "boolean" | "array";
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

type ArgumentOf<S extends ArgumentSchema> = S extends { enum: readonly (infer Choice)[] }
  ? Choice
  : { string: string; number: number; integer: number; boolean: boolean; array: string[] }[S["type"]];

type ReadersOf<S extends ArgumentsSchema> = {
  [Name in keyof S["properties"]]: Name extends S["required"][number]
    ? z.ZodMiniType<ArgumentOf<S["properties"][Name]>>
    : ReturnType<typeof maybe<z.ZodMiniType<ArgumentOf<S["properties"][Name]>>>>;
};

/** Numbers are at least 0, arrays are of strings. */
function readerOf({ type, enum: choices, minimum, maximum }: ArgumentSchema): z.ZodMiniType {
  if (choices !== undefined) return z.enum(choices);
  const bounds = [
    ...(minimum === undefined ? [] : [z.minimum(minimum)]),
    ...(maximum === undefined ? [] : [z.maximum(maximum)]),
  ];
  switch (type) {
    case "string":
      return z.string();
    case "number":
      return z.number().check(z.minimum(0), ...bounds);
    case "integer":
      return z.int().check(...bounds);
    case "boolean":
      return z.boolean();
    case "array":
      return z.array(z.string());
  }
}

/** Readers of the arguments that a model is told of. */
function readersOf<const S extends ArgumentsSchema>({ properties, required }: S): ReadersOf<S> {
  const read = ([name, schema]: [string, ArgumentSchema]) => {
    const reader = readerOf(schema);
    return [name, required.includes(name) ? reader : maybe(reader)];
  };
  return Object.fromEntries(Object.entries(properties).map(read));
}

const additionalPermissionsSchema = z.object({
  file_system: maybe(z.object({ read: maybe(z.array(z.string())), write: maybe(z.array(z.string())) })),
  network: maybe(z.object({ enabled: maybe(z.boolean()) })),
});
export type AdditionalPermissions = z.infer<typeof additionalPermissionsSchema>;

/** Also with what programs ask for and models are not told of. */
export const execCommandArgumentsSchema = z.object({
  ...readersOf(STANDARD_TOOLS.exec_command.inputSchema),
  sandbox_permissions: maybe(sandboxPermissionsSchema),
  additional_permissions: maybe(additionalPermissionsSchema),
  permission_profile: maybe(z.string()),
  /** Hard limit of the process, milliseconds. */
  timeout_ms: maybe(z.int().check(z.minimum(1))),
  /** What it may use; those of the policy hold where they are stricter. */
  limits: maybe(resourceLimitsSchema),
});
export type ExecCommandArguments = z.infer<typeof execCommandArgumentsSchema>;

export const writeStdinArgumentsSchema = z.object({
  ...readersOf(STANDARD_TOOLS.write_stdin.inputSchema),
  signal: maybe(sessionSignalSchema),
  resize: maybe(terminalSizeSchema),
});
