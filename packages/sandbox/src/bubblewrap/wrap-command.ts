import { closeSync, constants } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { setTimeout } from "node:timers/promises";
import type { SandboxDenial } from "@codex/exec-backend";
import { StartError } from "@codex/exec-backend";
import type { Native, RemoteMounts } from "@codex/native";
import { isWithin } from "@codex/permissions";
import { type EndedCommand, findDenial } from "../find-denial.js";
import { findSystemProgram } from "../find-system-program.js";
import { MAX_FREE_NAMES, MAX_RELEASE_MS } from "../limits.js";
import type { NamespaceNetwork } from "../network/session-network.js";
import { isGitDirectory, removeGitLinks } from "../profile/git-directory.js";
import { type HostFiles, isAllowed } from "../profile/host-files.js";
import { isGitCommonFile, OWN_COMMON_DIRECTORY } from "../profile/placeholder-mark.js";
import { getAccess, type ProfileEntry, type RestrictedFiles, type SandboxProfile } from "../profile/profile.js";
import { isBelowRepository } from "../profile/protected-paths.js";
import { invalid } from "../profile/resolve-profile.js";
import { createSeccompFilter } from "../seccomp/filter.js";
import type { FreeName, SandboxableCommand, WrappedCommand } from "../wrapped-command.js";
import { openFreeName } from "./free-names.js";
import { openGate } from "./mount-gate.js";
import { openSources } from "./open-sources.js";
import type { Placeholder, Placeholders } from "./placeholder.js";
import { listSources, MINIMAL_PATHS, renderBubblewrap } from "./render-arguments.js";
import { watchClosed } from "./watch-closed.js";
import { readWrapperStatus, untilNamespaceEnds, watchProgram } from "./wrapper-status.js";

export interface BubblewrapHost {
  native: Native;
  files: HostFiles;
  mounts: RemoteMounts;
  placeholders: Placeholders;
  /** Resolves once no other start has its sources open, which may be hundreds, with a function that is called when they are closed again. */
  takeTurn(): Promise<() => void>;
  bubblewrap: string;
  /** Where the command runs; absent: as its profile says. */
  network: NamespaceNetwork | undefined;
  /** It can give a program another argv[0]. */
  argv0: boolean;
  /** It can mount what a descriptor refers to. */
  bindFd: boolean;
}

/** @throws StartError `sandbox_invalid`, `os_error` */
export async function wrapWithBubblewrap(
  command: SandboxableCommand,
  profile: SandboxProfile,
  host: BubblewrapHost,
): Promise<WrappedCommand> {
  checkWrapper(host.bubblewrap, profile);
  checkVisible(command, profile, host.files);
  const breakage = createBreakage();
  const { reserved, placeholders, freeNames } = await reservePaths(command, profile, breakage, host);
  const free = async () => {
    for (const name of freeNames) name.close();
    await releaseAll(placeholders, host.mounts);
  };
  try {
    const endTurn = await host.takeTurn();
    return {
      ...openWrapper(command, { profile: reserved, freeNames, breakage }, host, free, endTurn),
      access: listAccess(profile),
      type: "linuxSeccomp",
      reservedPaths: placeholders.map(({ path }) => path),
      freeNames,
    };
  } catch (error) {
    await free();
    throw error;
  }
}

const listAccess = ({ fileSystem }: SandboxProfile): WrappedCommand["access"] =>
  fileSystem === "unrestricted"
    ? [{ path: "/", isWritable: true }]
    : fileSystem.entries.map(({ path, access }) => ({ path, isWritable: access === "write" }));

/** What ends a command whose sandbox no longer holds, as soon as there is a command. */
interface Breakage {
  /** Only the first call counts. */
  happen(): void;
  onBroken(end: () => void): void;
}

function createBreakage(): Breakage {
  let hasHappened = false;
  let end: (() => void) | undefined;
  return {
    happen() {
      if (!hasHappened) end?.();
      hasHappened = true;
    },
    onBroken(onEnd) {
      end = onEnd;
      if (hasHappened) onEnd();
    },
  };
}

/** The end of a command does not wait for a mount that does not answer: then they are removed once it does. */
const releaseAll = async (placeholders: readonly Placeholder[], mounts: RemoteMounts): Promise<void> => {
  await Promise.all(
    placeholders.map((placeholder) => onceReached([placeholder.path], mounts, () => placeholder.release())),
  );
};

/** Runs `work`. Resolves with it, but for paths on a remote mount after MAX_RELEASE_MS at the latest. */
async function onceReached(paths: readonly string[], mounts: RemoteMounts, work: () => Promise<void>): Promise<void> {
  const reached = mounts.reach(paths);
  if (reached === undefined) return work();
  const abort = new AbortController();
  try {
    await Promise.race([reached.then(work), setTimeout(MAX_RELEASE_MS, undefined, abort).catch(() => {})]);
  } finally {
    abort.abort();
  }
}

function openWrapper(
  command: SandboxableCommand,
  { profile, freeNames, breakage }: { profile: SandboxProfile; freeNames: readonly FreeName[]; breakage: Breakage },
  host: BubblewrapHost,
  free: () => Promise<void>,
  endTurn: () => void,
) {
  const opened: number[] = [];
  const closeAll = () => {
    for (const fd of opened.splice(0)) closeSync(fd);
    endTurn();
  };
  try {
    const { files, native, bindFd } = host;
    const inner = toInner(command, host);
    const pipe = native.openPipe()!; // never undefined on Linux
    const status = readWrapperStatus(pipe.read);
    opened.push(pipe.write);
    opened.unshift(native.createMemoryFile(createSeccompFilter(profile.network)!));
    const paths = bindFd ? listSources(profile) : [];
    opened.push(...openSources(paths));
    const { network } = host;
    const resolver = network === undefined ? undefined : files.real(RESOLVER_SETTINGS);
    const gate = openGate(profile, status, native, opened, resolver);
    if (resolver !== undefined) opened.push(native.createMemoryFile(OWN_RESOLVER));
    const entering = command.firstDescriptor ?? FIRST_DESCRIPTOR;
    const first = entering + (network?.descriptors.length ?? 0);
    const last = first + opened.length; // the options come before these
    const { args, options } = renderBubblewrap({ ...inner, cwd: command.cwd, env: command.env }, profile, {
      options: first,
      seccomp: first + 1,
      status: first + 2,
      sources: new Map(paths.map((path, at) => [path, first + 3 + at])),
      ...(gate === undefined ? {} : { gate: first + 3 + paths.length }),
      ...(resolver === undefined ? {} : { resolver: { path: resolver, descriptor: last } }),
    });
    opened.unshift(native.createMemoryFile(options));
    const wrapper = [host.bubblewrap, ...args];
    const [wrapperFile = "", ...wrapperArgs] = network === undefined ? wrapper : network.enter(entering, wrapper);
    const closedWatch =
      command.rechecked || profile.fileSystem === "unrestricted"
        ? undefined
        : watchClosed(profile.fileSystem, host.files.tmpDir, breakage.happen);
    let isUnreported = false;
    const unwatch = command.rechecked
      ? () => {}
      : watchProgram(status, () => {
          isUnreported = true;
          breakage.happen();
        });
    void status.ended.then(unwatch);
    const began = Date.now() - CLOCK_GRAIN_MS;
    const commits = profile.fileSystem === "unrestricted" ? [] : (profile.fileSystem.commits ?? []);
    const findCreated = () => freeNames.find(({ problem }) => problem !== undefined)?.problem;
    let released: Promise<void> | undefined;
    const release = async () => {
      closeAll();
      await status.ended;
      closedWatch?.close();
      if (status.init !== undefined) await untilNamespaceEnds(status.init);
      await gate?.passed;
      // From here on, nothing of the command can create them.
      if (!command.rechecked) for (const name of freeNames) name.clear();
      if (commits.length > 0) await onceReached(commits, host.mounts, () => removeGitLinks(commits, began, files));
      await free();
    };
    return {
      file: wrapperFile,
      args: wrapperArgs,
      cwd: "/",
      env: {},
      descriptors: [...(network?.descriptors ?? []), ...opened],
      wrappers: inner.wrappers + (network?.wrappers ?? 0),
      status,
      onBroken: breakage.onBroken,
      isBroken: () => closedWatch?.replaced !== undefined || findCreated() !== undefined,
      findDenial(ended: Omit<EndedCommand, "cwd">): SandboxDenial | undefined {
        if (closedWatch?.replaced !== undefined) {
          const reason = `the command was ended: \`${closedWatch.replaced}\`, which is closed to it or holds what is, was replaced outside; until then the new one was open to it, so check it`;
          return { certain: true, reason };
        }
        const created = findCreated();
        if (created !== undefined)
          return { certain: true, reason: `the sandbox ends commands that create it: ${created}` };
        if (isUnreported) {
          const reason = "the program had ended, but its sandbox was stopped from outside and did not report how";
          return { certain: true, reason };
        }
        if (gate?.problem !== undefined)
          return { certain: true, reason: `the sandbox did not start the program: ${gate.problem}` };
        return findDenial({ ...ended, cwd: command.cwd }, profile, files);
      },
      detach: closeAll,
      release() {
        released ??= release();
        return released;
      },
    };
  } catch (cause) {
    closeAll();
    if (cause instanceof StartError) throw cause;
    throw new StartError("os_error", "the sandbox was not created: too many open files", { cause });
  }
}

/** Which name servers programs ask. */
const RESOLVER_SETTINGS = "/etc/resolv.conf";
const OWN_RESOLVER = Buffer.from("nameserver 127.0.0.1\noptions attempts:1\n");

/** File times are those of the last kernel tick, up to 10 ms ago. */
const CLOCK_GRAIN_MS = 20;

/** After the standard streams. */
const FIRST_DESCRIPTOR = 3;

/** No command can normally write where the wrapper is installed, but a profile may allow it. */
function checkWrapper(bubblewrap: string, { fileSystem }: SandboxProfile): void {
  if (fileSystem === "unrestricted") return;
  if (process.getuid?.() !== 0 && !isAllowed(bubblewrap, constants.W_OK)) return;
  // A command that may write everywhere gains nothing by it.
  if (getAccess(fileSystem, "/") === "write") return;
  if (getAccess(fileSystem, bubblewrap) === "write")
    throw invalid(`it makes ${bubblewrap} writable, which makes the sandbox`);
}

/** Reports before the start what the wrapper would report in the output of the command. */
function checkVisible({ argv, file, cwd }: SandboxableCommand, { fileSystem }: SandboxProfile, files: HostFiles): void {
  if (fileSystem === "unrestricted") return;
  if (!isVisible(fileSystem, files.real(file) ?? file)) {
    throw invalid(`program \`${argv[0]}\` cannot be read in it (${file})`);
  }
  if (!isVisible(fileSystem, files.real(cwd) ?? cwd))
    throw invalid(`working directory \`${cwd}\` cannot be read in it`);
}

function isVisible(fileSystem: RestrictedFiles, path: string): boolean {
  const access = getAccess(fileSystem, path);
  if (access === "deny") return false;
  // The sandbox has a fresh one, without the files of the host.
  if (isWithin(path, "/dev/shm"))
    return fileSystem.entries.some((entry) => entry.path !== "/" && isWithin(path, entry.path));
  if (access !== "none") return true;
  return fileSystem.minimal && MINIMAL_PATHS.some((root) => isWithin(path, root));
}

/** What bubblewrap itself starts. `wrappers`: programs before the command's own, bubblewrap included. */
function toInner({ argv, file, arg0, env, session }: SandboxableCommand, { argv0 }: BubblewrapHost) {
  // By name it is found again on the same PATH, and has the name as its argv[0].
  const named = env.PATH === undefined ? [file, ...argv.slice(1)] : argv;
  if (arg0 !== undefined && argv0 && session !== "terminal") return { argv: named, argv0: arg0, session, wrappers: 1 };
  const inner = arg0 === undefined ? named : ["/bin/bash", "-c", 'exec -a "$0" "$@"', arg0, file, ...argv.slice(1)];
  const wrappers = arg0 === undefined ? 1 : 2;
  if (session !== "terminal") return { argv: inner, session, wrappers };
  const setsid = findSystemProgram("setsid");
  if (setsid === undefined) {
    throw new StartError(
      "no_terminal",
      "no terminal in a sandbox: the program `setsid` (util-linux or busybox) is missing",
    );
  }
  return { argv: [setsid, "-c", "--", ...inner], session: "keep" as const, wrappers: wrappers + 1 };
}

/**
 * Puts placeholders where the command must not create anything; an empty directory may be the placeholder of another
 * sandbox, and is then shared with it. Names that no placeholder may have are watched instead.
 */
async function reservePaths(
  command: SandboxableCommand,
  profile: SandboxProfile,
  breakage: Breakage,
  host: BubblewrapHost,
) {
  const placeholders: Placeholder[] = [];
  const freeNames: FreeName[] = [];
  const { fileSystem } = profile;
  if (fileSystem === "unrestricted") return { reserved: profile, placeholders, freeNames };
  const entries: ProfileEntry[] = [];
  try {
    for (const entry of fileSystem.entries) {
      const isFree = freeNames.length < MAX_FREE_NAMES && wouldHideRepository(entry, host);
      // A file helper does only what it is asked, so it is checked after each call.
      const name = isFree
        ? openFreeName(entry.path, host.files, command.rechecked ? undefined : breakage.happen)
        : undefined;
      if (name !== undefined) {
        freeNames.push(name);
        continue;
      }
      const mayBeHeld = mayVanish(entry, fileSystem, host.files);
      const placeholder = mayBeHeld ? await host.placeholders.hold(entry.path, entry.kind) : undefined;
      if (placeholder !== undefined) placeholders.push(placeholder);
      // The command cannot create it either, and there is no mount point.
      if (placeholder !== undefined || !entry.missing) entries.push(entry);
    }
  } catch (error) {
    for (const name of freeNames) name.close();
    await releaseAll(placeholders, host.mounts);
    throw error;
  }
  return { reserved: { ...profile, fileSystem: { ...fileSystem, entries } }, placeholders, freeNames };
}

/**
 * Whether a placeholder would hide the repository that its directory is in. Not in a directory like /tmp, where anybody may create it, nor
 * where looking for it may hang, nor with a name that the guard cannot read.
 */
function wouldHideRepository({ path, access, missing }: ProfileEntry, { files, mounts }: BubblewrapHost): boolean {
  if (missing === undefined || access !== "read" || basename(path) !== ".git") return false;
  const directory = dirname(path);
  if (files.kind(path) !== "missing" || files.isShared(directory) || mounts.isAt(path) || path.includes("\n"))
    return false;
  return isBelowRepository(directory, files) && !isGitDirectory(directory, files);
}

function mayVanish(entry: ProfileEntry, { entries }: RestrictedFiles, files: HostFiles): boolean {
  if (entry.missing) return true;
  const mayBePlaceholder = isGitCommonFile(entry.path)
    ? files.firstLine(entry.path) === OWN_COMMON_DIRECTORY
    : entry.kind === "directory" && files.isEmpty(entry.path);
  if (entry.access === "write" || !mayBePlaceholder) return false;
  return entries.some(({ path, access }) => access === "write" && isWithin(entry.path, path));
}
