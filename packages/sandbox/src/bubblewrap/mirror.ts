import { dirname, join } from "node:path/posix";
import { setTimeout } from "node:timers/promises";
import type { RemoteMounts } from "@codex/native";
import { MAX_MIRROR_WAIT_MS, MAX_MIRRORED } from "../limits.js";
import type { HostFiles } from "../profile/host-files.js";
import {
  byDepth,
  getAccess,
  type ProfileEntry,
  type RestrictedFiles,
  type SandboxProfile,
} from "../profile/profile.js";
import { isFresh } from "./render-arguments.js";

/**
 * Protects denied files by their directories. A mount on a file disappears with the file: when a program outside renames another
 * one over it, a running sandbox can read that one. So an empty directory takes the place of a readable directory that contains
 * a denied file, and its other entries are mounted there: later additions are not visible under any name. Writable
 * directories stay as they are: what a command creates has to reach the host.
 */
export function mirrorClosed(profile: SandboxProfile, files: HostFiles): SandboxProfile {
  const { fileSystem, network } = profile;
  if (fileSystem === "unrestricted") return profile;
  const entries = new Map(fileSystem.entries.map((entry) => [entry.path, entry]));
  let budget = MAX_MIRRORED;
  for (const directory of listParents(fileSystem, files)) {
    const names = files.list(directory);
    if (names.length > budget || names.some(({ name }) => name.includes("\ufffd"))) continue;
    budget -= names.length;
    for (const entry of mirror(directory, names, files)) {
      const own = entries.get(entry.path);
      if (own === undefined || entry.mirror !== undefined) entries.set(entry.path, entry);
    }
  }
  return { network, fileSystem: { ...fileSystem, entries: [...entries.values()].sort(byDepth) } };
}

/**
 * Leaves out mirrored mounts that do not answer: opening them would block this thread, and bubblewrap would wait for them. The
 * command does not see them.
 */
export async function withoutHanging(profile: SandboxProfile, mounts: RemoteMounts): Promise<SandboxProfile> {
  const { fileSystem, network } = profile;
  if (fileSystem === "unrestricted") return profile;
  const far = fileSystem.entries.filter(({ path, mirrored }) => mirrored && mounts.isAt(path));
  const answers = await Promise.all(far.map(({ path }) => isReached(path, mounts)));
  const hanging = far.filter((_entry, at) => !answers[at]);
  const entries = fileSystem.entries.filter((entry) => !hanging.includes(entry));
  return { network, fileSystem: { ...fileSystem, entries } };
}

async function isReached(path: string, mounts: RemoteMounts): Promise<boolean> {
  const abort = new AbortController();
  const reached = mounts.reach([path])?.then(() => true) ?? true;
  try {
    return await Promise.race([reached, setTimeout(MAX_MIRROR_WAIT_MS, false, abort)]);
  } finally {
    abort.abort();
  }
}

/** Outer ones first. A socket needs no protection: no program can connect to it. */
function listParents(fileSystem: RestrictedFiles, files: HostFiles): string[] {
  const parents = fileSystem.entries
    .filter(({ access, kind, missing }) => access === "deny" && kind === "file" && missing === undefined)
    .filter(({ path }) => files.isPlainFile(path))
    .map(({ path }) => dirname(path))
    .filter((path) => path !== "/" && !isFresh(path) && getAccess(fileSystem, path) === "read")
    .filter((path) => fileSystem.entries.every((entry) => entry.path !== path || isReadable(entry)));
  return [...new Set(parents)].sort((one, other) => one.length - other.length);
}

const isReadable = ({ access, missing, kind }: ProfileEntry): boolean =>
  access === "read" && missing === undefined && kind === "directory";

function mirror(directory: string, names: ReturnType<HostFiles["list"]>, files: HostFiles): ProfileEntry[] {
  const links = names
    .filter(({ kind }) => kind === "link")
    .map(({ name }) => ({ name, target: files.target(join(directory, name)) ?? "" }))
    .filter(({ target }) => target !== "");
  const inner = names
    .filter(({ kind }) => kind === "directory" || kind === "file")
    .map(
      ({ name, kind }): ProfileEntry => ({
        path: join(directory, name),
        access: "read",
        kind: kind === "directory" ? "directory" : "file",
        mirrored: true,
      }),
    );
  return [{ path: directory, access: "read", kind: "directory", mirror: links }, ...inner];
}
