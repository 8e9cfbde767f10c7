import type { GateRules, ProgramReport } from "@codex/exec-gate";
import { hasFunction } from "../libc/bind.js";
import type { Libc } from "../libc/libc.js";
import type { ExitStatus } from "../process/exit-status.js";
import { createMarks } from "../process/marks.js";
import { SPAWN_FUNCTIONS } from "../process/spawn.js";
import { type Gate, startGate, type ThreadedGate } from "./gate.js";
import { GateError } from "./gate-error.js";
import { findMissingFunction } from "./kernel-calls.js";
import { ABIS } from "./system-calls.js";

/** Opens a gate, and tries it. Rejects with a `GateError` that names what is missing on this host. */
export async function openGate(getLibc: () => Libc): Promise<Gate> {
  checkHost(getLibc);
  const gate = await startGate(getLibc());
  try {
    await tryGate(gate);
    return gate;
  } catch (error) {
    await gate.close();
    throw error;
  }
}

/** Beyond those for starting programs: others would change the directory of all threads, or not mark what they start. */
const FUNCTIONS = [...SPAWN_FUNCTIONS, "posix_spawn_file_actions_addchdir_np", "prlimit"] as const;

function checkHost(getLibc: () => Libc): void {
  if (process.platform !== "linux") throw new GateError("seccomp", `there is none on \`${process.platform}\``);
  if (ABIS[process.arch] === undefined) throw new GateError("seccomp", `not for \`${process.arch}\``);
  const missing = findMissingName(getLibc);
  if (missing !== undefined) throw new GateError(missing, "the C library does not have it");
}

function findMissingName(getLibc: () => Libc): string | undefined {
  try {
    const libc = getLibc();
    return FUNCTIONS.find((name) => !hasFunction(libc, name)) ?? findMissingFunction();
  } catch (error) {
    throw new GateError("koffi", error instanceof Error ? error.message : String(error));
  }
}

/** The program of the second shell is refused, that of the third is started. */
const TRIAL = '/bin/sh -c "exit 7"; [ $? = 126 ] || exit 9; exec /bin/sh -c "exit 3"';
const TRIAL_RULES: GateRules = {
  rules: [{ id: "", pattern: [["sh"], ["-c"], ["exit 7"]], decision: "refuse", place: { kind: "inside" } }],
  hostExecutables: [],
  approved: [],
};

/** What a sandbox, a container or the settings of the kernel may refuse shows only when it is done. */
async function tryGate(gate: ThreadedGate): Promise<void> {
  const marks = createMarks();
  const mark = marks.next();
  let found: readonly ProgramReport[] = [];
  const ended = new Promise<ExitStatus>((resolve, reject) => {
    gate
      .spawn({
        file: "/bin/sh",
        argv: ["sh", "-c", TRIAL],
        env: {},
        cwd: "/",
        stdio: { stdin: null, stdout: null, stderr: null },
        descriptors: [],
        mark,
        rules: TRIAL_RULES,
        isSandboxed: false,
        wrappers: 0,
        reach: undefined,
        onReports: (reports) => {
          found = reports;
        },
        onBroken: () => reject(new GateError("worker_threads", "a thread of it has ended")),
        onExit: resolve,
      })
      .catch(reject);
  });
  const status = await ended.finally(() => marks.release());
  gate.end(mark);
  const [refused, started] = found;
  if (refused?.reason === "hidden")
    throw new GateError("process_vm_readv", "memory of its own children cannot be read");
  if (refused?.reason !== "rule") throw new GateError("seccomp", "a program that a rule refuses was started");
  if (started?.reason === "unverified") gate.setTracing(false);
  else if (!("code" in status) || status.code !== 3) {
    throw new GateError("ptrace", `a program that no rule refuses was not started (${JSON.stringify(status)})`);
  }
}
