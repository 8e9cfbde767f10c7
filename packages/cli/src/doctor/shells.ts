import { realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { basename } from "node:path";
import { type Check, type Finding, ok, problem, warning } from "./check.js";
import { findProgram } from "./find-program.js";
import { SLOW_LOGIN_MS } from "./limits.js";
import { runProgram } from "./run-program.js";

/** Checks of the shells that models write commands for. */
export const SHELL_CHECKS: readonly Check[] = ["bash", "zsh", "sh"].map((name) => ({
  name: `shell ${name}`,
  run: () => checkShell(name),
}));

async function checkShell(name: string): Promise<Finding> {
  const found = findProgram(name);
  if (found === undefined) return missing(name);
  const { path, isOnPath } = found;
  const plain = await runProgram(path, ["-c", "echo ready"]);
  if (plain.code !== 0 || plain.stdout !== "ready\n") {
    return problem(`${path} does not run a command`, `install ${name} again`);
  }
  const detail = `${await describeVersion(name, path)} at ${path}`;
  const login = await runProgram(path, ["-lc", ":"]);
  const files = STARTUP_FILES[name] ?? "the startup files of the shell";
  if (login.timedOut) return problem(`${detail}; a login shell does not start`, `find out what waits in ${files}`);
  if (login.code !== 0) {
    return warning(
      `${detail}; a login shell ends with ${login.code ?? login.signal}`,
      `find out what fails in ${files}`,
    );
  }
  const ms = Math.round(login.ms);
  if (login.stdout !== "") {
    return warning(`${detail}; a login shell writes output of its own`, `let ${files} write only to a terminal`);
  }
  if (ms > SLOW_LOGIN_MS) {
    return warning(
      `${detail}; a login shell starts in ${ms} ms`,
      `find out what is slow in ${files}: it delays each command`,
    );
  }
  if (!isOnPath) return warning(`${detail}; not in PATH`, `add ${path.slice(0, path.lastIndexOf("/"))} to PATH`);
  return ok(`${detail}; a login shell starts in ${ms} ms`);
}

function missing(name: string): Finding {
  if (name === "sh") return problem("not found", "install a POSIX shell as /bin/sh: programs are started through it");
  if (name === getUserShell()) return problem("not found, and it is the user's shell", `install ${name}, or chsh`);
  return name === "bash" ? warning("not found", "install bash: models write commands for it") : ok("not installed");
}

/** `sh` has no version option; the program that it links to may have one. */
async function describeVersion(name: string, path: string): Promise<string> {
  const real = basename(realpathSync(path));
  if (real !== "bash" && real !== "zsh") return real === name ? name : `${name} (${real})`;
  const { stdout } = await runProgram(path, ["--version"]);
  return `${real} ${/(?<!\d)\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? ""}`.trim();
}

/** Login shell in the user database; undefined for a user who is not in it. */
function getUserShell(): string | undefined {
  try {
    const { shell } = userInfo();
    return shell ? basename(shell) : undefined;
  } catch {
    return undefined;
  }
}

const STARTUP_FILES: Readonly<Record<string, string>> = {
  bash: "/etc/profile, ~/.bash_profile or ~/.profile",
  zsh: "/etc/zprofile, ~/.zshenv and ~/.zprofile",
  sh: "/etc/profile and ~/.profile",
};
