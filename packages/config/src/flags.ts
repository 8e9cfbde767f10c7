import { parseKeyPath, parseTypedValue } from "@codex/toml";
import { ConfigError } from "./config-error.js";
import { type Entry, type Layer, readLayer } from "./layer.js";
import type { Origin } from "./origin.js";
import { mergeSources, type Source } from "./source.js";

/** A setting given as a flag: the flag as the user wrote it, and `key=value`. */
export interface FlagSetting {
  flag: string;
  setting: string;
  /** Where it is written, if not in a flag. */
  origin?: Origin;
}

/**
 * The settings of the flags in their order. Relative paths are resolved against `directory`.
 * @throws ConfigError for one that is not `key=value`, or whose value is invalid
 */
export function parseFlags(flags: readonly FlagSetting[], directory: string): Layer {
  const entries: Entry[] = [];
  const unused: Layer["unused"][number][] = [];
  const sources: Source[] = [];
  for (const { flag, setting, origin: written } of flags) {
    const origin: Origin = written ?? { kind: "flag", flag };
    const equals = setting.indexOf("=");
    const path = parseKeyPath(equals < 0 ? "" : setting.slice(0, equals));
    if (path === undefined) throw new ConfigError(`${flag}: expected key=value, with a dotted key`, "usage");
    const table = path.reduceRight<unknown>(
      (inner, part) => ({ [part]: inner }),
      parseTypedValue(setting.slice(equals + 1).trim()),
    );
    const layer = readLayer({ table: table as Record<string, unknown>, locate: () => origin }, directory);
    entries.push(...layer.entries);
    unused.push(...layer.unused);
    sources.push(layer.source);
  }
  return { entries, unused, source: mergeSources(sources) };
}

/** The flags of a command that set configuration. */
export interface ConfigFlags {
  config?: string[];
  profile?: string;
  approvalPolicy?: string;
  /** The name in Codex for `approvalPolicy`. */
  askForApproval?: string;
  sandbox?: string;
  /** A profile of `[permissions]`, or one that is built in. */
  permissionProfile?: string;
  /** The profile of the environment that a command uses, which flags override. `file`: the file that names it. */
  environmentProfile?: { name: string; file: string; line?: number } | undefined;
  /** The user's `config.toml` is not read. */
  ignoreUserConfig?: boolean;
  /** Hooks run that nobody has trusted. */
  dangerouslyBypassHookTrust?: boolean;
}

/** All `-c` are one layer, in which `default_permissions` wins over `sandbox_mode`. */
const namesPermissions = ({ setting }: FlagSetting): boolean => /^\s*"?default_permissions\b/.test(setting);

/** Flags with their own name override `-c`, as in Codex. */
export function listFlags({
  config = [],
  approvalPolicy,
  askForApproval,
  sandbox,
  permissionProfile,
  environmentProfile,
}: ConfigFlags): FlagSetting[] {
  const own = (flag: string, key: string, value: string | undefined): FlagSetting[] =>
    value === undefined ? [] : [{ flag: `${flag} ${value}`, setting: `${key}=${JSON.stringify(value)}` }];
  return [
    ...(environmentProfile === undefined ? [] : [toSetting(environmentProfile)]),
    // Only the key: the value may be a secret.
    ...config
      .map((setting) => ({ flag: `-c ${setting.split("=", 1)[0]}`, setting }))
      .sort((a, b) => Number(namesPermissions(a)) - Number(namesPermissions(b))),
    ...own("--ask-for-approval", "approval_policy", askForApproval),
    ...own("--approval-policy", "approval_policy", approvalPolicy),
    ...own("--sandbox", "sandbox_mode", sandbox),
    ...own("--permission-profile", "default_permissions", permissionProfile),
  ];
}

const toSetting = ({ name, ...place }: NonNullable<ConfigFlags["environmentProfile"]>): FlagSetting => ({
  flag: "permission_profile",
  setting: `default_permissions=${JSON.stringify(name)}`,
  origin: { kind: "file", layer: "user", ...place },
});
