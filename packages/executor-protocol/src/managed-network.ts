import * as z from "zod/mini";
import { keySchema } from "./scalars.js";

/** Whom a command may reach, as a person configured it. */
const networkPolicySchema = z.object({
  /** `pattern`: a host, `*.host`, `**.host`, an address or a block of addresses, each with `:port` or `:from-to` at most. `source`: `file:line`. */
  rules: z.readonly(
    z.array(
      z.object({
        pattern: z.string(),
        decision: z.enum(["allow", "deny", "ask"]),
        source: z.optional(z.string()),
      }),
    ),
  ),
  /** `limited`: only `GET`, `HEAD` and `OPTIONS` of plain HTTP. */
  mode: z.enum(["full", "limited"]),
  /** Local addresses count like others, except those where a cloud gives credentials. */
  allowLocalBinding: z.boolean(),
});

/** Where the executor has the secret of a route: a variable of its environment, a file, or what a program prints. */
const secretSourceSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("variable"), name: z.string().check(z.minLength(1)) }),
  /** Absolute, or below the home directory as `~/…`. */
  z.object({ kind: z.literal("file"), path: z.string().check(z.regex(/^(~\/|\/)./)) }),
  z.object({ kind: z.literal("command"), argv: z.array(z.string()).check(z.minLength(1)) }),
]);

/** An address of a network, `http://NAME.route/`, whose requests go to one https host with a header that the command does not know. */
const networkRouteSchema = z.object({
  /** Lower-case letters, digits and `-`. */
  name: z.string(),
  /** `https://host[:port][/path]`. */
  url: z.string(),
  secret: secretSourceSchema,
  /** The header that holds the secret; default `Authorization`. */
  header: z.optional(z.string().check(z.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/))),
  /** How it is written: `Bearer SECRET` (default), `Basic` of `user:SECRET`, `token SECRET`, or alone. */
  scheme: z.optional(z.enum(["bearer", "basic", "token", "plain"])),
  /** For `basic`; default `x-access-token`. */
  user: z.optional(z.string()),
  /** Only paths that begin with one of these are reached. Default: all. */
  paths: z.optional(z.array(z.string())),
  /** A file of the executor with certificates that are trusted for it, in place of those that are trusted by default. */
  caFile: z.optional(z.string().check(z.regex(/^(~\/|\/)./))),
  /** Programs that find the route by their variables. */
  tools: z.optional(z.array(z.enum(["git", "npm", "pip"]))),
});
/** A way of a network to one https host, with a secret of the executor. */
export type NetworkRoute = z.infer<typeof networkRouteSchema>;

/**
 * The network of a sandboxed command: capability `managed_network`. Instead of what its sandbox says of the network, it has one that the commands of
 * its session with the same policy share, and from which only what the policy allows is reached. Where that cannot be held, the command is refused.
 */
export const managedNetworkSchema = z.object({
  policy: networkPolicySchema,
  /** Hosts are reached through the proxy of the executor's environment, if it has one, which then resolves their names. Default false. */
  allowUpstreamProxy: z.optional(z.boolean()),
  /** Capability `network_routes`. */
  routes: z.optional(z.array(networkRouteSchema)),
  /**
   * Connections to hosts that no rule decides about, or that one asks about, wait for `host_answer`. Absent: they are denied. Capability `host_questions`.
   * `key` is repeated in each question: it names the command to the orchestrator. `timeoutMs`: without an answer until then, a host is denied.
   */
  questions: z.optional(z.object({ key: keySchema, timeoutMs: z.int().check(z.positive()) })),
  /** What the command reaches and does not is told in `host_report`, which repeats this key. Capability `host_reports`. */
  reports: z.optional(keySchema),
});
/** The network of a sandboxed command: what it may reach. */
export type ManagedNetwork = z.infer<typeof managedNetworkSchema>;

/** How a host was named: plain HTTP, a tunnel, SOCKS, or a connection by its name alone. */
export const networkProtocolSchema = z.enum(["http", "connect", "socks5", "direct"]);

/** What a command did about a host, counted since its start: equal decisions, and the connections that have ended. */
export const hostActivitySchema = z.object({
  host: z.string(),
  port: z.int(),
  protocol: networkProtocolSchema,
  decision: z.enum(["allow", "deny"]),
  /** Who decided: the policy, an answer, one that was remembered, a limit, the name in a TLS handshake; `network`: it was allowed, and not reached. */
  by: z.enum(["policy", "asked", "remembered", "limit", "sni", "network"]),
  reason: z.optional(z.string()),
  rule: z.optional(z.object({ pattern: z.string(), source: z.optional(z.string()) })),
  count: z.int().check(z.nonnegative()),
  /** Connections that have ended, and their bytes from the command to the host and back. */
  ended: z.int().check(z.nonnegative()),
  sent: z.int().check(z.nonnegative()),
  received: z.int().check(z.nonnegative()),
});
/** What a command did about a host, counted since its start. */
export type HostActivity = z.infer<typeof hostActivitySchema>;

/** A host that a command was not let to. */
export const networkDenialSchema = z.object({
  host: z.string(),
  port: z.int(),
  protocol: networkProtocolSchema,
  /**
   * `denied`: a rule forbids it. `not_allowed`: none allows it. `looked_up`: it was looked up by name and not connected to, as far as the network
   * can tell; the port is 0. Others say what is wrong with the target, or why there was no connection.
   */
  reason: z.string(),
  /** The pattern of the rule that decided, and where it stands. */
  rule: z.optional(z.object({ pattern: z.string(), source: z.optional(z.string()) })),
  /** Why nobody allowed it, where it could be asked about. */
  answer: z.optional(z.enum(["declined", "unasked", "unanswered"])),
  /** How often it was tried. */
  count: z.int(),
});
/** A host that a command was not let to. */
export type NetworkDenial = z.infer<typeof networkDenialSchema>;
