import type { SandboxSupport } from "@codex/executor-protocol";
import { type Check, type Finding, ok, problem, warning } from "./check.js";
import { runProgram } from "./run-program.js";

/** Runs this command in another process, so that a crash in native code is a finding. */
function runCodex(args: readonly string[], input = "") {
  const { NODE_OPTIONS: _loads, ...env } = process.env;
  return runProgram(process.execPath, [process.argv[1] ?? "", ...args], { input, env });
}

const REINSTALL =
  "install again on this host, for this Node and libc: `npm rebuild node-pty koffi`; on musl node-pty has to be built from source";

/** Messages of a failure to load native code. */
const NATIVE_FAULT = /cannot find|dlopen|ELF|GLIBC|musl|native module|koffi|node-pty/i;

async function roundTrip(kind: "--tty" | "--no-tty", script: string, expected: RegExp): Promise<Finding> {
  const { code, signal, timedOut, stdout, stderr } = await runCodex(["run", kind, "--", "/bin/sh", "-c", script]);
  if (timedOut) return problem("a command did not end", "find out what keeps /bin/sh from ending on this host");
  if (signal !== undefined) return problem(`the process host was ended by ${signal}`, REINSTALL);
  if (code !== 0) {
    const message = stderr.trim().split("\n").at(-1) || `a command failed with exit code ${code}`;
    return problem(message, NATIVE_FAULT.test(stderr) ? REINSTALL : "fix what the message names");
  }
  if (!expected.test(stdout)) return problem("the output of a command was not what it wrote", REINSTALL);
  return ok("a command ran, and its output and status came back");
}

export const checkTerminal: Check = {
  name: "terminal",
  run: () => roundTrip("--tty", "[ -t 0 ] && [ -t 1 ] && echo terminal", /^terminal\r\n$/),
};

export const checkPipes: Check = {
  name: "pipes",
  run: () => roundTrip("--no-tty", "printf round-trip", /^round-trip$/),
};

const WITHOUT_SANDBOX =
  "none: with a configured sandbox mode commands are refused, otherwise every command that is not known to be safe needs approval";

/** Checks the sandbox support that an executor reports to its orchestrator. */
export const checkSandbox: Check = {
  name: "sandbox",
  async run() {
    const hello = { type: "initialize", requestId: "1", clientName: "codex doctor", protocolVersion: "1" };
    const { stdout, signal } = await runCodex(["executor", "--log-level", "off"], `${JSON.stringify(hello)}\n`);
    if (signal !== undefined) return problem(`the executor was ended by ${signal}`, REINSTALL);
    const support = readSupport(stdout);
    if (support === undefined) return problem("the executor does not report a sandbox", REINSTALL);
    if (support.kind !== "none") return ok(support.kind);
    return warning(WITHOUT_SANDBOX, support.problem ?? "use a host that has one");
  },
};

function readSupport(stdout: string): SandboxSupport | undefined {
  const [line = ""] = stdout.split("\n");
  try {
    // The line was written by our own executor.
    return (JSON.parse(line) as { host?: { sandbox?: SandboxSupport } }).host?.sandbox;
  } catch {
    return undefined;
  }
}
