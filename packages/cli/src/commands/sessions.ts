import { createOrchestrator } from "@codex/orchestrator";
import { attachExecutor, type ConnectOptions } from "../connect.js";
import { parseExecutorAddress } from "../executor-address.js";
import { CommandError, EXIT } from "../exit-codes.js";
import { sessionError } from "../read-session.js";

/** Address of the executor. */
export type SessionsAddress = ConnectOptions;

export interface SessionsOptions extends SessionsAddress {
  kill?: number;
  read?: number;
  json?: boolean;
}

/** Lists, reads or kills sessions of a running executor, whoever started them. */
export async function runSessions(options: SessionsOptions): Promise<void> {
  const address = checkSessionsAddress(options);
  if (options.kill !== undefined && options.read !== undefined) {
    throw new CommandError("--kill and --read exclude each other", EXIT.usage);
  }
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" } });
  try {
    await attachExecutor(orchestrator, "executor", address, { onlyExecutor: true });
    const [tool, args] = toCall(options);
    const result = await orchestrator.callTool(tool, args, { sessionScope: "executor" });
    if (result.isError) throw sessionError(result.text);
    // The output is only in the text.
    const told = options.read === undefined ? result.structured : { ...Object(result.structured), text: result.text };
    const text = options.json ? JSON.stringify(told ?? null, null, 2) : result.text;
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  } finally {
    await orchestrator.close();
  }
}

/** @throws CommandError unless it is the address of an executor that runs already. */
export function checkSessionsAddress<Options extends SessionsAddress>(options: Options): Options {
  const { executor } = options;
  if (executor === undefined) {
    throw new CommandError("--executor is missing: the address of the executor whose sessions these are", EXIT.usage);
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
