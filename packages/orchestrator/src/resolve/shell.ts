import type { HostInfo } from "@codex/executor-protocol";
import type { Config } from "../config.js";
import type { Resolved } from "./resolved.js";
import { rejected } from "./resolved.js";

/** The final argv that runs a script, per kind of shell. */
export function resolveArgv(
  script: string,
  asked: { shell: string | undefined; login: boolean | undefined },
  host: HostInfo | undefined,
  config: Config,
): Resolved<string[]> {
  if (asked.login === true && !config.allowLogin) {
    return rejected("login", "login shells are not allowed by the configuration; leave `login` out or set it to false");
  }
  const shell = findShell(asked.shell, host, config);
  if (shell.kind === "rejected") return shell;
  const { path, kind } = shell.value;
  return { kind: "ok", value: ARGV[kind](path, asked.login ?? config.login, script) };
}

type ShellKind = "posix" | "powershell" | "cmd";
type Shell = { path: string; kind: ShellKind };

/** By basename, without `.exe`. */
const SHELL_KINDS: ReadonlyMap<string, ShellKind> = new Map([
  ["bash", "posix"],
  ["zsh", "posix"],
  ["sh", "posix"],
  ["pwsh", "powershell"],
  ["powershell", "powershell"],
  ["cmd", "cmd"],
]);

const ARGV: Record<ShellKind, (path: string, login: boolean, script: string) => string[]> = {
  posix: (path, login, script) => [path, login ? "-lc" : "-c", script],
  powershell: (path, login, script) => {
    const utf8 = `[Console]::OutputEncoding=[System.Text.Encoding]::UTF8;\n${script}`;
    return [path, ...(login ? [] : ["-NoProfile"]), "-Command", utf8];
  },
  cmd: (path, _login, script) => [path, "/c", script],
};

/** Used if the host does not report a supported shell. */
const FALLBACK_SHELL: Shell = { path: "/bin/sh", kind: "posix" };

function findShell(asked: string | undefined, host: HostInfo | undefined, config: Config): Resolved<Shell> {
  const named = asked || config.shell;
  if (named !== undefined) {
    const kind = SHELL_KINDS.get(shellName(named));
    if (kind !== undefined) return { kind: "ok", value: { path: pathOf(named, host), kind } };
    return rejected("shell", `unknown shell \`${named}\`; expected one of ${[...SHELL_KINDS.keys()].join(", ")}`);
  }
  const kind = host === undefined ? undefined : SHELL_KINDS.get(shellName(host.shell.path));
  if (host === undefined || kind === undefined) return { kind: "ok", value: FALLBACK_SHELL };
  return { kind: "ok", value: { path: host.shell.path, kind } };
}

/** A bare name stays one, so that the executor looks it up; the host's own shell is known by its path. */
const pathOf = (named: string, host: HostInfo | undefined): string =>
  host !== undefined && shellName(host.shell.path) === named ? host.shell.path : named;

const shellName = (path: string): string => (path.split(/[/\\]/).pop() ?? "").replace(/\.exe$/i, "").toLowerCase();
