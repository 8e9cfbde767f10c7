import { findDenial } from "../find-denial.js";
import { getEnvironment } from "../profile/environment.js";
import type { HostFiles } from "../profile/host-files.js";
import type { SandboxProfile } from "../profile/profile.js";
import type { SandboxableCommand, WrappedCommand } from "../wrapped-command.js";
import { renderSeatbelt } from "./render-profile.js";

/** Part of macOS; no other program of this name is used. */
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** The program replaces `sandbox-exec`: its exit status, group and terminal are its own. */
export function wrapWithSeatbelt(
  command: SandboxableCommand,
  profile: SandboxProfile,
  files: HostFiles,
  proxyPort?: number,
): WrappedCommand {
  const { profile: text, parameters } = renderSeatbelt(profile, proxyPort);
  const { argv, file, arg0, cwd, env } = command;
  const inner =
    arg0 === undefined ? [file, ...argv.slice(1)] : ["/bin/bash", "-c", EXEC_AS, arg0, file, ...argv.slice(1)];
  return {
    type: "macosSeatbelt",
    access: undefined,
    file: SANDBOX_EXEC,
    args: ["-p", text, ...parameters.flatMap((parameter) => ["-D", parameter]), "--", ...inner],
    cwd,
    env: { ...getEnvironment(env, profile), CODEX_SANDBOX: "seatbelt" },
    descriptors: [],
    wrappers: arg0 === undefined ? 1 : 2,
    status: undefined,
    reservedPaths: [],
    freeNames: [],
    isBroken: () => false,
    findDenial: (ended) => findDenial({ ...ended, cwd }, profile, files),
    detach() {},
    release: async () => {},
  };
}

const EXEC_AS = 'exec -a "$0" "$@"';
