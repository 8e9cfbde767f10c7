import { createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { attachExecutor, type ConnectOptions, choosePlace } from "../connect.js";
import { parseExecutorAddress } from "../executor-address.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { printLine } from "../notice.js";
import { readSession, sessionError } from "../read-session.js";
import { printScreen, readStyledScreen } from "../screen-drawing.js";

/** Address of the executor. */
export type SessionsAddress = ConnectOptions;

export interface SessionsOptions extends SessionsAddress {
  kill?: number;
  read?: number;
  json?: boolean;
}

/** Lists, reads or kills sessions of a running executor, regardless of who started them. */
export async function runSessions(options: SessionsOptions): Promise<void> {
  const address = checkSessionsAddress(options);
  if (options.kill !== undefined && options.read !== undefined) {
    throw new CommandError("--kill and --read exclude each other", EXIT.usage);
  }
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const [tool, args] = toCall(options);
    const { read, json } = options;
    if (read !== undefined && json !== true && process.stdout.isTTY && (await hasTerminal(orchestrator, read))) {
      return printScreen(await readStyledScreen(orchestrator, read));
    }
    const result = await orchestrator.callTool(tool, args, { sessionScope: "executor" });
    if (result.isError) throw sessionError(result.text);
    // The output is only in the text.
    const told = options.read === undefined ? result.structured : { ...Object(result.structured), text: result.text };
    const text = options.json ? JSON.stringify(told ?? null, null, 2) : result.text;
    printLine(text);
  } finally {
    await orchestrator.close();
    await closePlace();
  }
}

/** Whether what a session prints is meant for a terminal. */
async function hasTerminal(orchestrator: Orchestrator, id: number): Promise<boolean> {
  const { signal } = new AbortController();
  const { tty } = await readSession(orchestrator, { id, from: 0, waitMs: 0 }, signal);
  return tty;
}

/** Attaches the executor whose sessions are requested. Returns a function that frees what was opened for it. */
export async function attachSessions(
  orchestrator: Parameters<typeof attachExecutor>[0],
  address: SessionsAddress,
): Promise<() => Promise<void>> {
  const chosen = await choosePlace(address);
  if (chosen === undefined && address.executor === undefined) {
    throw new CommandError("--environment local: an executor of this process has no sessions yet", EXIT.usage);
  }
  try {
    await attachExecutor(orchestrator, "executor", address, { onlyExecutor: true }, chosen);
  } catch (error) {
    await chosen?.close();
    throw error;
  }
  return async () => chosen?.close();
}

/** @throws CommandError unless it is the address of an executor that runs already. */
export function checkSessionsAddress<Options extends SessionsAddress>(options: Options): Options {
  const { executor, environment } = options;
  if (executor === undefined && environment !== undefined) return options;
  if (executor === undefined) {
    const missing = "--executor is missing: the address of the executor whose sessions these are";
    throw new CommandError(`${missing}; or --environment`, EXIT.usage);
  }
  if (parseExecutorAddress(executor, "--executor").kind !== "command") return options;
  const why = "an executor on stdio belongs to whoever started it; expected ws://HOST:PORT or HOST:PORT";
  throw new CommandError(`--executor ${JSON.stringify(executor)}: ${why}`, EXIT.usage);
}

function toCall({ kill, read }: SessionsOptions): [string, Record<string, unknown>] {
  if (kill !== undefined) return ["kill_session", { session_id: kill }];
  if (read !== undefined) return ["read_output", { session_id: read, from: 0, max_output_tokens: 250_000 }];
  return ["list_sessions", {}];
}
