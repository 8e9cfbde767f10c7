import { messageOf } from "@codex/values";
import * as z from "zod/mini";
import { MAX_SCHEMA_DEPTH } from "../limits.js";

/**
 * The JSON Schema of a tool's arguments, before defaults are filled in.
 * @throws Error naming the tool and the field.
 */
export function toInputSchema(toolName: string, schema: z.core.$ZodObject): Record<string, unknown> {
  const { $schema, ...inputSchema } = convert(toolName, schema);
  if (isDeeper(inputSchema, MAX_SCHEMA_DEPTH)) throw new Error(tooDeep(toolName));
  return inputSchema;
}

const tooDeep = (toolName: string): string =>
  `tool \`${toolName}\`: its inputSchema is nested deeper than the limit of ${MAX_SCHEMA_DEPTH} levels`;

function convert(toolName: string, schema: z.core.$ZodObject): z.core.JSONSchema.BaseSchema {
  try {
    return z.toJSONSchema(schema, { io: "input", override: refuseProto });
  } catch (error) {
    if (error instanceof RangeError) throw new Error(tooDeep(toolName), { cause: error });
    const field = error instanceof ProtoField ? error.field : findField(schema);
    throw new Error(`tool \`${toolName}\`: ${field === "" ? "" : `field \`${field}\`: `}${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** A schema during its conversion, as zod passes it to `override`. */
interface Converted {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
  path: (string | number)[];
}

class ProtoField extends Error {
  constructor(readonly field: string) {
    super("a member of this name cannot be distinguished from the prototype of an object");
  }
}

function refuseProto({ zodSchema: { _zod }, path }: Converted): void {
  if (_zod.def.type !== "object" || !Object.hasOwn(_zod.def.shape, "__proto__")) return;
  throw new ProtoField(toField([...path, "properties", "__proto__"]));
}

/** The first field that has no JSON Schema; empty when none is found. */
function findField(schema: z.core.$ZodObject): string {
  let found = "";
  z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema, path }: Converted) => {
      const { type } = zodSchema._zod.def;
      if (found !== "" || type === "any" || type === "unknown" || Object.keys(jsonSchema).length > 0) return;
      found = toField(path);
    },
  });
  return found;
}

/** The name of a field: `a.b[]` for the path `properties`, `a`, `properties`, `b`, `items`. */
function toField(path: readonly (string | number)[]): string {
  let field = "";
  for (let index = 0; index < path.length; index += 1) {
    if (path[index] === "items") field += "[]";
    else if (path[index] === "properties" && index + 1 < path.length) {
      index += 1;
      field += field === "" ? String(path[index]) : `.${path[index]}`;
    }
  }
  return field;
}

/** Whether arrays and objects are nested deeper than `levels`. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
