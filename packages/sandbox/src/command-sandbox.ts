import { StartError } from "@codex/exec-backend";
import type { Sandbox, SandboxSupport } from "@codex/executor-protocol";
import { createNative, type Native } from "@codex/native";
import { mirrorClosed } from "./bubblewrap/mirror.js";
import { PathsChangedError } from "./bubblewrap/open-sources.js";
import { checkBubblewrap, looksUsable, type Preflight } from "./bubblewrap/preflight.js";
import { wrapWithBubblewrap } from "./bubblewrap/wrap-command.js";
import { MAX_RESOLVE_TRIES } from "./limits.js";
import { createHostFiles, type HostFiles } from "./profile/host-files.js";
import { createPatternSearch } from "./profile/pattern-search.js";
import { isUnlimited, type SandboxProfile } from "./profile/profile.js";
import { type FoundPatterns, resolveProfile } from "./profile/resolve-profile.js";
import { wrapWithSeatbelt } from "./seatbelt/wrap-command.js";
import type { SandboxableCommand, WrappedCommand } from "./wrapped-command.js";

/** Makes sandboxes of this host. */
export interface CommandSandbox {
  /** Found once, by trying; tried again when the host was too short of something to tell. Never rejects. */
  getSupport(): Promise<SandboxSupport>;
  /** What a look at the host says, without trying: fast, and in rare cases too hopeful. */
  isLikely(): boolean;
  /** What its patterns name, without keeping this thread busy. Rejects with a StartError `sandbox_invalid`. */
  search(sandbox: Sandbox): Promise<FoundPatterns>;
  /** What a sandbox means here at this moment; patterns that were not searched for are on this thread. @throws StartError `sandbox_invalid` */
  resolve(sandbox: Sandbox, found?: FoundPatterns): SandboxProfile;
  /**
   * Undefined where the sandbox limits nothing: the command may run as it is.
   * @throws StartError `sandbox_unavailable`, `sandbox_invalid`: it must not run
   */
  wrap(command: SandboxableCommand, sandbox: Sandbox): Promise<WrappedCommand | undefined>;
}

/** The collaborators of `createCommandSandbox`, each with its default. */
export interface CommandSandboxOptions {
  native?: Native;
  files?: HostFiles;
  platform?: NodeJS.Platform;
  /** How a Linux host is examined. */
  preflight?: (native: Native) => Promise<Preflight>;
}

/** The sandbox of this host: bubblewrap on Linux, seatbelt on macOS, none where the host lacks what it needs. */
export function createCommandSandbox({
  native = createNative(),
  files = createHostFiles(),
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
  const search = createPatternSearch(files);
  return {
    async getSupport() {
      if (platform === "darwin") return { kind: "seatbelt" };
      if (platform !== "linux") return { kind: "none", problem: `there is no sandbox for \`${platform}\`` };
      const found = await check();
      return found.kind === "ok" ? { kind: "bubblewrap" } : { kind: "none", problem: found.problem };
    },
    isLikely: () => platform === "darwin" || (platform === "linux" && looksUsable()),
    search,
    resolve: (sandbox, found) => resolveProfile(sandbox, files, found),
    async wrap(command, sandbox) {
      const profile = resolveProfile(sandbox, files, await search(sandbox));
      if (isUnlimited(profile)) return undefined;
      if (platform === "darwin") return wrapWithSeatbelt(command, profile, files);
      if (platform !== "linux") throw unavailable(`there is no sandbox for \`${platform}\``);
      const found = await check();
      if (found.kind === "missing") throw unavailable(found.problem);
      for (let tries = 1; ; tries += 1) {
        try {
          const current = tries === 1 ? profile : resolveProfile(sandbox, files, await search(sandbox));
          const held = command.rechecked ? current : mirrorClosed(current, files);
          return await wrapWithBubblewrap(command, held, { native, files, ...found });
        } catch (error) {
          if (!(error instanceof PathsChangedError) || tries >= MAX_RESOLVE_TRIES) throw error;
        }
      }
    },
  };
}

const unavailable = (problem: string) =>
  new StartError("sandbox_unavailable", `the command was not run: this host cannot sandbox it: ${problem}`);
