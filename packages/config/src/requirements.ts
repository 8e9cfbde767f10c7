import { join } from "node:path";
import { renderKeyPath } from "@codex/toml";
import * as z from "zod/mini";
import { safeParse } from "zod/mini";
import { ConfigError, createValueError, renderValue } from "./config-error.js";
import { approvalPolicySchema, KEYS, sandboxModeSchema } from "./keys.js";
import { isTable, type Layer, readLayer } from "./layer.js";
import { describePlace, type Origin } from "./origin.js";
import { readSource, type Source } from "./source.js";
import type { ConfiguredApproval } from "./tighten.js";

type SandboxMode = z.infer<typeof sandboxModeSchema>;

/** The administrator's limits for every configuration on this host. */
export interface Requirements {
  /** Undefined: any. */
  approvalPolicies?: { allowed: readonly ConfiguredApproval[]; origin: Origin };
  sandboxModes?: { allowed: readonly SandboxMode[]; origin: Origin };
  denyRead: readonly string[];
  /** Restricting rules, in the syntax of rule files. */
  rules?: { file: string; text: string };
  /** `[audit]`, which overrides every other layer. */
  audit: Layer;
  unused: Layer["unused"];
}

/**
 * Reads `requirements.toml`.
 * @throws ConfigError for anything in it that cannot be enforced, such as network rules by host
 */
export async function readRequirements(directory: string): Promise<Requirements | undefined> {
  const file = join(directory, "requirements.toml");
  const source = await readSource(file, "requirements");
  if (source === undefined) return undefined;
  const requirements: Requirements = { denyRead: [], audit: { entries: [], unused: [], table: {} }, unused: [] };
  const unused: Layer["unused"][number][] = [];
  for (const [name, value] of Object.entries(source.table)) {
    const origin = source.locate([name]);
    const known = readOne(name, value, { source, directory, file, origin });
    if (known === undefined) unused.push({ key: renderKeyPath([name]), origin });
    else Object.assign(requirements, known);
  }
  return { ...requirements, unused };
}

interface Reading {
  source: Source;
  directory: string;
  file: string;
  origin: Origin;
}

function readOne(name: string, value: unknown, reading: Reading): Partial<Requirements> | undefined {
  const { origin, source, directory } = reading;
  switch (name) {
    case "allowed_approval_policies":
      return { approvalPolicies: { allowed: readList(name, approvalPolicySchema, value, origin), origin } };
    case "allowed_sandbox_modes":
      return { sandboxModes: { allowed: readModes(name, value, origin), origin } };
    case "rules":
      return { rules: { file: reading.file, text: readRules(value, origin) } };
    case "permissions":
      return { denyRead: readDenyRead(value, reading) };
    case "audit":
      return { audit: readLayer({ table: { audit: value }, locate: source.locate }, directory) };
    case "experimental_network":
      throw new ConfigError(
        `${describePlace(origin)}: \`${name}\` cannot be enforced here: access to the network is on or off, not by host`,
      );
    default:
      return undefined;
  }
}

function readList<T>(name: string, schema: z.ZodMiniType<T>, value: unknown, origin: Origin): T[] {
  const parsed = safeParse(z.array(schema).check(z.minLength(1)), value);
  if (parsed.success) return parsed.data;
  const expected = name === "allowed_sandbox_modes" ? KEYS.sandboxMode.expected : KEYS.approvalPolicy.expected;
  throw createValueError(origin, name, renderValue(value), `a list, not empty, of ${expected}`);
}

/** `external-sandbox` is a mode of Codex that this project does not have. */
function readModes(name: string, value: unknown, origin: Origin): SandboxMode[] {
  const wanted = Array.isArray(value) ? value.filter((mode) => mode !== "external-sandbox") : value;
  const modes = readList(name, sandboxModeSchema, wanted, origin);
  if (modes.includes("read-only")) return modes;
  throw createValueError(origin, name, renderValue(value), 'a list with "read-only"');
}

function readDenyRead(value: unknown, { source, directory, origin }: Reading): string[] {
  const fileSystem = isTable(value) ? value.filesystem : undefined;
  const patterns = isTable(fileSystem) ? fileSystem.deny_read : undefined;
  if (patterns === undefined) return [];
  const table = { sandbox_workspace_write: { deny_read: patterns } };
  const [entry] = readLayer(
    { table, locate: () => source.locate(["permissions", "filesystem", "deny_read"]) },
    directory,
  ).entries;
  if (Array.isArray(entry?.value)) return entry.value.map(String);
  throw createValueError(origin, "permissions.filesystem.deny_read", renderValue(patterns), "a list of patterns");
}

const tokenSchema = z.union([z.strictObject({ token: z.string() }), z.strictObject({ any_of: z.array(z.string()) })]);
const rulesSchema = z.object({
  prefix_rules: z
    .array(
      z.object({
        pattern: z.array(tokenSchema).check(z.minLength(1)),
        decision: z.enum(["prompt", "forbidden"]),
        justification: z.optional(z.string()),
      }),
    )
    .check(z.minLength(1)),
});

/** Renders the rules as the text of a rule file, one per line. JSON strings are also strings of that language. */
function readRules(value: unknown, origin: Origin): string {
  const parsed = safeParse(rulesSchema, value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    const expected = '{ pattern = [{ token = "…" } or { any_of = ["…"] }, …], decision = "prompt" or "forbidden" }';
    throw new ConfigError(`${describePlace(origin)}: \`rules.${path}\` is invalid; expected ${expected}`);
  }
  const lines = parsed.data.prefix_rules.map(({ pattern, decision, justification }) => {
    const tokens = JSON.stringify(pattern.map((one) => ("token" in one ? one.token : one.any_of)));
    const why = justification === undefined ? "" : `, justification=${JSON.stringify(justification)}`;
    return `prefix_rule(pattern=${tokens}, decision="${decision}"${why})`;
  });
  return `${lines.join("\n")}\n`;
}
