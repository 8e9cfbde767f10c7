import { RpcError } from "@codex/channel";
import type { ProcessSpec, ProcessStdio } from "@codex/exec-backend";
import { createEnvironment } from "@codex/exec-backend";
import type { StartParams } from "@codex/exec-server-protocol";
import { ERROR_CODES, METHODS, toNativeSandbox } from "@codex/exec-server-protocol";
import { keepDirectory, type ShellSnapshots } from "@codex/shell-snapshot";
import { defined } from "@codex/values";
import { RETAINED_BYTES } from "../limits.js";

/** Defaults of this server for `process/start`. */
export interface SpecDefaults {
  /** The environment that an `envPolicy` starts from. */
  env: Readonly<Record<string, string | undefined>>;
  /** `SHELL` of a process with a terminal whose environment has none. */
  shell: string;
  snapshots: ShellSnapshots;
}

/** How the shell of a process was started, where the client allowed a snapshot. */
export interface StartupNote {
  kind: "snapshot" | "login";
  reason?: string;
}

/** Starts a login shell from a snapshot where the client allows it and there is one. */
export async function applySnapshot(
  { shellSnapshot, envPolicy, env: overlay }: StartParams,
  spec: ProcessSpec,
  snapshots: ShellSnapshots,
): Promise<{ spec: ProcessSpec; note?: StartupNote }> {
  if (shellSnapshot === undefined) return { spec };
  if (shellSnapshot.shell.path !== spec.argv[0] || spec.arg0 !== undefined) {
    return { spec, note: { kind: "login", reason: "the program is not the shell of the snapshot" } };
  }
  const startup = await snapshots.find({ ...spec, envPolicy, overlay, scope: shellSnapshot.scopeId });
  // A snapshot does not change the directory either.
  if (startup.kind === "login") return { spec: { ...spec, argv: keepDirectory(spec) }, note: startup };
  return { spec: { ...spec, argv: startup.argv, env: startup.env }, note: { kind: "snapshot" } };
}

/** Converts the params of `process/start`. @throws RpcError -32602 for a managed network that cannot be held, and for a bad path */
export function toProcessSpec(params: StartParams, { env: own, shell }: SpecDefaults): ProcessSpec {
  refuseNetwork(params);
  const env = createEnvironment(params.envPolicy, own, { ...params.env, ...idsOf(params) });
  if (params.tty) env.SHELL ??= shell;
  return {
    argv: params.argv,
    cwd: params.cwd,
    env,
    stdio: stdioOf(params),
    // Chunks stay whole and in memory, because readers ask for them by number.
    log: { headBytes: 0, tailBytes: RETAINED_BYTES, spillBytes: 0, lendsChunks: true },
    ...(params.sandbox === undefined ? {} : { sandbox: toNativeSandbox(params.sandbox) }),
    ...defined({ arg0: params.arg0 }),
  };
}

/** @throws RpcError -32602 where a managed network cannot be held */
function refuseNetwork({ networkProxy, enforceManagedNetwork, sandbox }: StartParams): void {
  if (networkProxy === undefined && !enforceManagedNetwork) return;
  const missing = networkProxy === undefined ? "`networkProxy`" : sandbox === undefined ? "`sandbox`" : undefined;
  if (missing === undefined) return;
  throw new RpcError(
    ERROR_CODES.invalidParams,
    `${METHODS.processStart} was refused: a managed network cannot be held without ${missing}`,
  );
}

function idsOf({ metadata }: StartParams): Record<string, string> {
  return {
    ...(metadata?.threadId === undefined ? {} : { CODEX_THREAD_ID: metadata.threadId }),
    ...(metadata?.toolCallId === undefined ? {} : { CODEX_TOOL_CALL_ID: metadata.toolCallId }),
  };
}

/** Default size of a terminal; the figures are Codex's. */
const DEFAULT_ROWS = 24;
const DEFAULT_COLS = 80;

function stdioOf({ tty, pipeStdin, rows = DEFAULT_ROWS, cols = DEFAULT_COLS }: StartParams): ProcessStdio {
  return tty ? { kind: "pty", size: { rows, cols } } : { kind: "pipe", stdin: pipeStdin ? "open" : "null" };
}
