import { RpcError } from "@codex/channel";
import { defined, messageOf } from "@codex/values";
import type { Environment, ServedProtocol } from "./environment.js";
import { EnvironmentError, type EnvironmentErrorCode } from "./errors.js";

/** Result of a check of an environment. */
export interface EnvironmentCheck {
  id: string;
  kind: string;
  ok: boolean;
  serves: ServedProtocol | null;
  /** Milliseconds until the handshake response. */
  connectMs?: number;
  /** Median round trip of several requests, milliseconds; exec-servers only. */
  roundTripMs?: number;
  /** Why it cannot be used, without secrets. */
  problem?: string;
  /** How to fix it. */
  mend?: string;
}

const ROUND_TRIPS = 5;

/** Connects an environment and measures the round trip, or returns the problem and how to fix it. Never rejects. */
export async function checkEnvironment(environment: Environment): Promise<EnvironmentCheck> {
  const { id, kind } = environment;
  try {
    const began = performance.now();
    await environment.connect();
    const connectMs = round(performance.now() - began);
    const { cwd } = await environment.info();
    const serves = environment.serves ?? null;
    // The round trip is measured only for an exec-server.
    const measured = serves === "exec-server" ? { roundTripMs: await measure(environment, cwd) } : {};
    return { id, kind, ok: true, serves, connectMs, ...measured };
  } catch (error) {
    const problem = error instanceof EnvironmentError ? error.reason : messageOf(error);
    const mend = error instanceof EnvironmentError ? getFix(kind, error.code) : undefined;
    return {
      id,
      kind,
      ok: false,
      serves: environment.serves ?? null,
      problem,
      ...defined({ mend }),
    };
  }
}

async function measure(environment: Environment, path: string): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < ROUND_TRIPS; count += 1) {
    const sent = performance.now();
    await environment.files.getMetadata(path).catch(ignoreRefusal);
    times.push(performance.now() - sent);
  }
  return round(times.sort((a, b) => a - b)[Math.floor(ROUND_TRIPS / 2)]!);
}

/** An error response also completes a round trip. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof RpcError)) throw error;
}

type Fixes = Partial<Record<EnvironmentErrorCode, string>>;

const FIXES: Fixes = {
  unreachable: "start a server there (`codex exec-server --listen ws://ADDRESS:PORT`), or correct the address",
  untrusted:
    "if it is the server that you mean, name the certificate of its issuer, or its own if that is self-signed, as `ca_file` in environments-ts.toml, below [extend.ID]; else give it a valid certificate for its name",
  unauthorized: "give it the token of that server: auth_bearer_token, auth_bearer_token_file or auth_bearer_token_env",
  handshake_failed: "the address has to lead to an exec-server or executor: correct it, or the path after it",
  timeout:
    "see whether something on the way drops what is sent; connect_timeout_sec and initialize_timeout_sec allow more",
  program_failed: "run the program by hand and see what it says: it has to speak on its stdin and stdout",
  closed: "connect it again: this side has closed it",
};

/** Overrides by kind of environment. */
const FIXES_BY_KIND: Readonly<Record<string, Fixes>> = {
  command: {
    unreachable: FIXES.program_failed!,
    unauthorized: "give the program its credentials: `env`, or `env_inherit` in environments-ts.toml",
    handshake_failed: "the program has to be an exec-server or executor that prints nothing else on its stdout",
    timeout: "see whether the program waits for something; initialize_timeout_sec allows more",
  },
  ssh: {
    unreachable: "try `ssh HOST true` in a terminal: the same ssh and settings are used here",
    unauthorized: "try `ssh HOST true` in a terminal: it asks there what it cannot ask here",
    handshake_failed: "see what the startup files of the shell there print, and whether they end",
    timeout: "try `ssh HOST true` in a terminal; connect_timeout_sec allows more",
    program_failed: "see whether ~/.cache there can be written, and remove ~/.cache/codex-ts: it is installed again",
    unsupported: "install Node 20.19 or newer there, where a login shell finds it",
  },
  noise: { unsupported: "unset CODEX_EXEC_SERVER_NOISE_REGISTRY_URL and the variables that go with it" },
};

const getFix = (kind: string, code: EnvironmentErrorCode): string | undefined =>
  FIXES_BY_KIND[kind]?.[code] ?? FIXES[code];

const round = (ms: number): number => Math.round(ms * 100) / 100;
