import type { PermissionProfile, ProfileEntry } from "@codex/policy";
import * as z from "zod/mini";
import { ConfigError } from "./config-error.js";
import { describePlace, type Origin } from "./origin.js";

const access = z.enum(["read", "write", "deny", "none"]);

/** One profile of `[permissions]`. */
export const configuredProfileSchema = z.strictObject({
  extends: z.optional(z.string()),
  description: z.optional(z.string()),
  filesystem: z.optional(
    z.catchall(
      z.object({ glob_scan_max_depth: z.optional(z.int().check(z.positive())) }),
      z.union([access, z.record(z.string(), access)]),
    ),
  ),
  network: z.optional(
    z.strictObject({
      enabled: z.optional(z.boolean()),
      mode: z.optional(z.enum(["full", "limited"])),
      domains: z.optional(z.record(z.string(), z.enum(["allow", "deny", "none"]))),
      allow_local_binding: z.optional(z.boolean()),
      allow_upstream_proxy: z.optional(z.boolean()),
      // As by default; anything else is not supported.
      enable_socks5: z.optional(z.literal(true)),
      enable_socks5_udp: z.optional(z.boolean()),
      dangerously_allow_non_loopback_proxy: z.optional(z.literal(false)),
      dangerously_allow_all_unix_sockets: z.optional(z.literal(false)),
      unix_sockets: z.optional(z.record(z.string(), z.enum(["deny", "none"]))),
      // Ports are chosen by the executor.
      proxy_url: z.optional(z.string()),
      socks_url: z.optional(z.string()),
    }),
  ),
});
type ConfiguredProfile = z.infer<typeof configuredProfileSchema>;

/** `[permissions]`, by name. */
export type ConfiguredProfiles = Readonly<Record<string, ConfiguredProfile>>;

/** A profile with what it extends. */
export interface ResolvedProfile extends PermissionProfile {
  /** The mode that it amounts to. */
  mode: "read-only" | "workspace-write";
  /** It makes all files writable. */
  writesEverything: boolean;
  /** Of all that it extends, the nearest first. */
  networks: readonly { name: string; network: NonNullable<ConfiguredProfile["network"]> }[];
}

/** @throws ConfigError, with the place, for a profile that is not there or extends itself, and for a path that is none */
export function resolveProfile(
  name: string,
  profiles: ConfiguredProfiles,
  { origin, locate }: { origin: Origin; locate: (name: string) => Origin },
): ResolvedProfile {
  const chain: [string, ConfiguredProfile][] = [];
  let base: PermissionProfile["base"] = "none";
  let [next, place]: [string | undefined, Origin] = [name, origin];
  while (next !== undefined) {
    const built = BUILT_IN.get(next);
    if (built !== undefined) {
      base = built;
      break;
    }
    const fail = (problem: string): never => {
      throw new ConfigError(`${describePlace(place)}: permission profile ${JSON.stringify(next)} ${problem}`);
    };
    const known = chain.map(([one]) => one);
    if (known.includes(next)) fail(`extends itself: ${[...known, next].join(" → ")}`);
    const profile: ConfiguredProfile = Object.hasOwn(profiles, next)
      ? profiles[next]!
      : fail(`is none of ${listNames(profiles)}`);
    chain.push([next, profile]);
    [place, next] = [locate(next), profile.extends];
  }
  // What a profile says replaces what it extends says of the same place.
  const entries = new Map<string, ProfileEntry>();
  for (const [one, { filesystem }] of chain.toReversed()) {
    for (const entry of readEntries(filesystem, `${describePlace(locate(one))}: permissions.${one}.filesystem`)) {
      const key = JSON.stringify([entry.place, entry.subpath]);
      entries.delete(key);
      entries.set(key, entry);
    }
  }
  const all = [...entries.values()];
  const depth = chain.map(([, { filesystem }]) => filesystem?.glob_scan_max_depth).find((each) => each !== undefined);
  const isWritten = all.some((entry) => entry.access === "write");
  return {
    name,
    base,
    entries: all,
    ...(depth === undefined ? {} : { globScanMaxDepth: depth }),
    mode: base === "workspace" || isWritten ? "workspace-write" : "read-only",
    writesEverything: all.some((entry) => entry.access === "write" && entry.place === "root"),
    networks: chain.flatMap(([one, { network }]) => (network === undefined ? [] : [{ name: one, network }])),
  };
}

/** Those that may be extended; full access is a sandbox mode alone. */
const BUILT_IN: ReadonlyMap<string, PermissionProfile["base"]> = new Map([
  [":read-only", "read-only"],
  [":workspace", "workspace"],
]);

const listNames = (profiles: ConfiguredProfiles): string =>
  [...BUILT_IN.keys(), ...Object.keys(profiles)].map((name) => JSON.stringify(name)).join(", ");

const SPECIAL: ReadonlyMap<string, Exclude<ProfileEntry["place"], { path: string }>> = new Map([
  [":root", "root"],
  [":minimal", "minimal"],
  [":workspace_roots", "workspace_roots"],
  [":tmpdir", "tmpdir"],
  [":slash_tmp", "slash_tmp"],
]);

function* readEntries(filesystem: ConfiguredProfile["filesystem"], where: string): Iterable<ProfileEntry> {
  const { glob_scan_max_depth: _, ...places } = filesystem ?? {};
  for (const [name, value] of Object.entries(places)) {
    const fail = (problem: string): never => {
      throw new ConfigError(`${where}.${JSON.stringify(name)}: ${problem}`);
    };
    const place =
      SPECIAL.get(name) ??
      (/^(\/|~\/)/.test(name)
        ? { path: name }
        : fail(`expected an absolute path, one below ~/, or one of ${[...SPECIAL.keys()].join(", ")}`));
    if (typeof value === "string") {
      yield check({ place, access: toAccess(value) }, fail);
      continue;
    }
    if (typeof place === "string" && place !== "workspace_roots") fail("has no paths below it; write it as a path");
    for (const [subpath, inner] of Object.entries(value)) {
      if (/^\/|(^|\/)\.\.(\/|$)/.test(subpath) || subpath === "")
        fail(`path ${JSON.stringify(subpath)} is not below it`);
      const entry = {
        place,
        access: toAccess(inner),
        ...(subpath === "." ? {} : { subpath: subpath.replace(/^\.\//, "") }),
      };
      yield check(entry, fail);
    }
  }
}

const toAccess = (value: z.infer<typeof access>): ProfileEntry["access"] => (value === "none" ? "deny" : value);

function check(entry: ProfileEntry, fail: (problem: string) => never): ProfileEntry {
  const { place, subpath = "", access: wanted } = entry;
  const text = `${typeof place === "string" ? "" : place.path}${subpath}`;
  if (/[*?[\]]/.test(text) && wanted !== "deny") fail(`a pattern can only be "deny", not ${JSON.stringify(wanted)}`);
  if (place === "minimal" && wanted !== "read") fail(`can only be "read", not ${JSON.stringify(wanted)}`);
  return entry;
}
