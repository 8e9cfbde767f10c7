import { codexHome } from "@codex/config";
import { createOrchestrator } from "@codex/orchestrator";
import { onStopSignal } from "@codex/servers";
import type { ServedView } from "@codex/view";
import { CommandError, EXIT } from "../exit-codes.js";
import { createOutages } from "../foreground/outages.js";
import { printLine, say } from "../notice.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

export interface ViewCommandOptions extends SessionsAddress {
  port?: number;
  once?: boolean;
}

/** Serves the sessions of an executor, or a file, until a signal. Prints the link as the first line of stdout. */
export async function runView(file: string | undefined, options: ViewCommandOptions): Promise<void> {
  if (file !== undefined) return runReplay(file, options);
  const address = checkSessionsAddress(options);
  const orchestrator = createOrchestrator({
    policy: { approvalPolicy: "never" },
    ...createOutages(say, "Ctrl-C leaves").hooks,
  });
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    const { attachView } = await import("@codex/view");
    await serve((served) => attachView(orchestrator, { ...served, readOnly: true }), options);
  } finally {
    await orchestrator.close();
    await closePlace();
  }
}

async function runReplay(file: string, options: ViewCommandOptions): Promise<void> {
  if (options.executor !== undefined || options.environment !== undefined) {
    throw new CommandError("a file and --executor or --environment exclude each other", EXIT.usage);
  }
  const { readReplay, replayView } = await import("@codex/view");
  const replay = await readReplay(file, codexHome());
  await serve((served) => replayView(replay, served), options);
}

type Served = { port: number; onProblem: (problem: string) => void };

async function serve(open: (served: Served) => Promise<ServedView>, { port = 0, once = false }: ViewCommandOptions) {
  const stop = new AbortController();
  const off = onStopSignal(() => stop.abort());
  const view = await open({ port, onProblem: say });
  printLine(view.url);
  try {
    if (once) await view.untilLeft(stop.signal, { afterFirst: true });
    else await untilStopped(stop.signal);
  } finally {
    off();
    await view.close();
  }
}

/** Keeps the process alive in the meantime. */
function untilStopped(signal: AbortSignal): Promise<void> {
  const timer = setInterval(() => {}, 60_000);
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(clearInterval(timer)), { once: true });
  });
}
