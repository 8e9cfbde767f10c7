import type { Logger } from "@codex/telemetry";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";

/** How a launcher starts an exec-server, beyond what it serves. */
export interface LaunchArguments {
  /** The server ends when its stdin does. Default: `$CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE`. */
  exitOnStdinClose?: boolean;
  linuxSandboxPidNamespace?: "isolate" | "inherit";
  /** Default: `$CODEX_EXEC_SERVER_PROXY_PRIVATE_IPS_VIA_UPSTREAM`. */
  proxyPrivateIpsViaUpstream?: boolean;
}

/** How the server behaves. */
export interface Launch {
  readonly upstreamForPrivate: boolean;
  /** Calls `stop` when stdin ends, if the launcher wants that: what comes before is read and dropped. */
  watchStdin(stop: () => void): void;
}

/** Tells of what has no effect here. @throws CommandError for a variable that is neither true nor false */
export function readLaunch(options: LaunchArguments, log: Logger | undefined): Launch {
  const upstreamForPrivate = isOn(
    options.proxyPrivateIpsViaUpstream,
    "CODEX_EXEC_SERVER_PROXY_PRIVATE_IPS_VIA_UPSTREAM",
  );
  const exitsWithStdin = isOn(options.exitOnStdinClose, "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE");
  if (options.linuxSandboxPidNamespace === "inherit") {
    log?.warn?.(
      "--linux-sandbox-pid-namespace inherit has no effect: a sandbox without processes of its own could not be ended as a whole",
    );
  }
  return {
    upstreamForPrivate,
    watchStdin(stop) {
      if (exitsWithStdin) process.stdin.once("end", stop).once("error", stop).resume();
    },
  };
}

function isOn(given: boolean | undefined, variable: string): boolean {
  const value = process.env[variable];
  if (given === true || value === undefined || value === "") return given === true;
  if (value === "true" || value === "false") return value === "true";
  throw new CommandError(`$${variable} is ${JSON.stringify(value)}; expected true or false`, SERVER_EXIT.usage);
}
