import { type HostSandbox, StartError } from "@codex/exec-backend";
import type { Sandbox } from "@codex/executor-protocol";
import { createNative, createRemoteMounts, type Native, type RemoteMounts } from "@codex/native";
import { mirrorClosed, withoutHanging } from "./bubblewrap/mirror.js";
import { PathsChangedError } from "./bubblewrap/open-sources.js";
import { createPlaceholders } from "./bubblewrap/placeholder.js";
import { checkBubblewrap, isProbablyUsable, type Preflight } from "./bubblewrap/preflight.js";
import { wrapWithBubblewrap } from "./bubblewrap/wrap-command.js";
import { findSystemProgram } from "./find-system-program.js";
import { MAX_RESOLVE_TRIES } from "./limits.js";
import { openPortNetwork } from "./network/port-network.js";
import type { NetworkPlace, SessionNetwork } from "./network/session-network.js";
import { createHostFiles, type HostFiles } from "./profile/host-files.js";
import { createPatternSearch } from "./profile/pattern-search.js";
import { isUnlimited, type SandboxProfile } from "./profile/profile.js";
import { type FoundPatterns, reachNamed, resolveProfile } from "./profile/resolve-profile.js";
import { wrapWithSeatbelt } from "./seatbelt/wrap-command.js";
import type { SandboxableCommand, WrappedCommand } from "./wrapped-command.js";

/** Wraps commands into the sandbox of this host. */
export interface CommandSandbox {
  /** Determined once by a trial run; tried again if the host was short of a resource. Never rejects. */
  getSupport(): Promise<HostSandbox>;
  /** A guess from files of the host, without a trial run: fast, and in rare cases wrongly true. */
  isLikely(): boolean;
  /** The same for `openNetwork`. */
  mayOpenNetworks(): boolean;
  /**
   * Expands its patterns without blocking this thread, and waits for remote mounts that its paths are on. Rejects with a
   * StartError `sandbox_invalid`.
   */
  search(sandbox: Sandbox): Promise<FoundPatterns>;
  /** Resolves a sandbox on this host; patterns that are not in `found` are expanded on this thread. @throws StartError `sandbox_invalid` */
  resolve(sandbox: Sandbox, found?: FoundPatterns): SandboxProfile;
  /**
   * What to spawn in place of the command; undefined where the sandbox restricts nothing: the command may run unchanged.
   * @param network where the command runs instead of what the sandbox says of the network; see `openNetwork`
   * @throws StartError `sandbox_unavailable`, `sandbox_invalid`: it must not run
   */
  wrap(command: SandboxableCommand, sandbox: Sandbox, network?: SessionNetwork): Promise<WrappedCommand | undefined>;
  /**
   * Makes a network for commands, on macOS for one of them, which then reaches its proxy alone; at `places` they reach hosts by their names, without a proxy.
   * @throws StartError `sandbox_unavailable` where this host cannot
   */
  openNetwork(places: readonly NetworkPlace[]): Promise<SessionNetwork>;
}

/** The collaborators of `createCommandSandbox`, each with its default. */
export interface CommandSandboxOptions {
  native?: Native;
  files?: HostFiles;
  mounts?: RemoteMounts;
  platform?: NodeJS.Platform;
  /** Checks what a Linux host supports. */
  preflight?: (native: Native) => Promise<Preflight>;
}

/** The sandbox of this host: bubblewrap on Linux, seatbelt on macOS, none where the host lacks what it needs. */
export function createCommandSandbox({
  native = createNative(),
  files = createHostFiles(),
  mounts = createRemoteMounts(),
  platform = process.platform,
  preflight = checkBubblewrap,
}: CommandSandboxOptions = {}): CommandSandbox {
  let checked: Promise<Preflight> | undefined;
  const check = () => {
    checked ??= preflight(native).then((found) => {
      if (found.kind === "missing" && found.isTransient) checked = undefined;
      return found;
    });
    return checked;
  };
  const placeholders = createPlaceholders(native);
  const takeTurn = createTurns();
  const findPatterns = createPatternSearch(files);
  const search = async (sandbox: Sandbox) => {
    // What resolves the paths is synchronous.
    await reachNamed(sandbox, files, mounts);
    const found = await findPatterns(sandbox);
    const matches = () => [...found.values()].flatMap((paths) => (paths instanceof Error ? [] : paths));
    await mounts.reach({ [Symbol.iterator]: () => matches()[Symbol.iterator]() });
    return found;
  };
  return {
    async getSupport() {
      if (platform === "darwin") return { kind: "seatbelt" };
      if (platform !== "linux") return { kind: "none", problem: `there is no sandbox for \`${platform}\`` };
      const found = await check();
      if (found.kind === "ok") return { kind: "bubblewrap" };
      const { problem, isTransient } = found;
      return isTransient ? { kind: "none", problem, expected: "bubblewrap" } : { kind: "none", problem };
    },
    isLikely: () => platform === "darwin" || (platform === "linux" && isProbablyUsable()),
    mayOpenNetworks: () =>
      platform === "darwin" ||
      (platform === "linux" && isProbablyUsable() && findSystemProgram("nsenter") !== undefined),
    search,
    resolve: (sandbox, found) => resolveProfile(sandbox, files, found),
    async openNetwork(places) {
      if (platform === "darwin") return openPortNetwork();
      if (platform !== "linux") throw noNetwork(`it cannot on \`${platform}\``);
      const found = await check();
      if (found.kind === "missing") throw noNetwork(found.problem);
      const [nsenter, shell] = [findSystemProgram("nsenter"), findSystemProgram("sh")];
      if (nsenter === undefined || shell === undefined)
        throw noNetwork("the program `nsenter` (util-linux) is missing, which enters it");
      const { openSessionNetwork } = await import("./network/session-network.js"); // for the hosts that use it
      return openSessionNetwork({ bubblewrap: found.bubblewrap, nsenter, shell, places });
    },
    async wrap(command, sandbox, network) {
      const resolve = async () => withNetwork(resolveProfile(sandbox, files, await search(sandbox)), network);
      const profile = await resolve();
      if (network === undefined && isUnlimited(profile)) return undefined;
      if (platform === "darwin") {
        return wrapWithSeatbelt(command, profile, files, network?.kind === "port" ? network.port : undefined);
      }
      if (platform !== "linux") throw unavailable(`there is no sandbox for \`${platform}\``);
      const found = await check();
      if (found.kind === "missing") throw unavailable(found.problem);
      const namespace = network?.kind === "namespace" ? network : undefined;
      if (network !== undefined && namespace === undefined) throw unavailable("its network is one of another platform");
      for (let tries = 1; ; tries += 1) {
        try {
          const current = tries === 1 ? profile : await resolve();
          const held = command.rechecked ? current : await withoutHanging(mirrorClosed(current, files), mounts);
          const host = { native, files, mounts, placeholders, takeTurn, network: namespace, ...found };
          return await wrapWithBubblewrap(command, held, host);
        } catch (error) {
          if (!(error instanceof PathsChangedError) || tries >= MAX_RESOLVE_TRIES) throw error;
        }
      }
    },
  };
}

/** In a namespace of its own a command may use all of it; elsewhere only its port. */
const withNetwork = (profile: SandboxProfile, network: SessionNetwork | undefined): SandboxProfile =>
  network === undefined ? profile : { ...profile, network: network.kind === "namespace" ? "enabled" : "restricted" };

/** One holder at a time, in the order of the calls; each resolves with an idempotent function that ends its turn. */
function createTurns(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let end = () => {};
    last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  };
}

const noNetwork = (problem: string) =>
  new StartError("sandbox_unavailable", `no network of its own can be made here for commands: ${problem}`);

const unavailable = (problem: string) =>
  new StartError("sandbox_unavailable", `the command was not run: this host cannot sandbox it: ${problem}`);
