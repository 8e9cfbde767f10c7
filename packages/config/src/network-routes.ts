import type { NetworkRoute } from "@codex/executor-protocol";
import { compileNetworkPolicy, compileRoute, PatternError } from "@codex/network-policy";
import * as z from "zod/mini";
import { ConfigError } from "./config-error.js";
import { describePlace, type Origin } from "./origin.js";

const file = z.string().check(z.regex(/^(~\/|\/)./));

/** A route as it stands in a file: its secret is one of `variable`, `file` and `command`. */
export const configuredRouteSchema = z.strictObject({
  url: z.string(),
  secret: z.union([
    z.strictObject({ variable: z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)) }),
    z.strictObject({ file }),
    z.strictObject({ command: z.array(z.string()).check(z.minLength(1)) }),
  ]),
  header: z.optional(z.string().check(z.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/))),
  scheme: z.optional(z.enum(["bearer", "basic", "token", "plain"])),
  user: z.optional(z.string().check(z.regex(/^[^:\0-\x1f\x7f]+$/))),
  paths: z.optional(z.array(z.string())),
  ca_file: z.optional(file),
  tools: z.optional(z.array(z.enum(["git", "npm", "pip"]))),
});
type ConfiguredRoute = z.infer<typeof configuredRouteSchema>;

/** The routes of configuration files, by name. */
export type ConfiguredRoutes = Readonly<Record<string, ConfiguredRoute>>;

/** @throws ConfigError for a route that is none, with its place */
export const createNetworkRoutes = (routes: ConfiguredRoutes, locate: (name: string) => Origin): NetworkRoute[] =>
  Object.entries(routes).map(([name, { secret, ca_file: caFile, ...route }]) => {
    checkRoute({ name, ...route }, locate(name));
    return { name, ...route, secret: toSource(secret), ...(caFile === undefined ? {} : { caFile }) };
  });

function checkRoute(route: Parameters<typeof compileRoute>[0], origin: Origin): void {
  try {
    compileRoute(route, (rule) => compileNetworkPolicy({ rules: [rule], mode: "full", allowLocalBinding: false }));
  } catch (error) {
    if (error instanceof PatternError) throw new ConfigError(`${describePlace(origin)}: ${error.message}`);
    throw error;
  }
}

function toSource(secret: ConfiguredRoute["secret"]): NetworkRoute["secret"] {
  if ("variable" in secret) return { kind: "variable", name: secret.variable };
  return "file" in secret ? { kind: "file", path: secret.file } : { kind: "command", argv: secret.command };
}
