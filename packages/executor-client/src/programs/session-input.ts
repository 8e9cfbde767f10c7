import type { SessionSignal, TerminalSize, WriteStdinRequest } from "@codex/executor-protocol";
import type { ExecutorConnection } from "../connection/executor-connection.js";
import { ExecutorConnectionError } from "../errors.js";
import { failureOf, findProgramTools, type RunHooks, WINDOW_MS } from "./command-follower.js";

/** Input of a session that somebody else may have started, on behalf of a person: no policy applies. Each rejects where it was not taken. */
export interface SessionInput {
  /** Resolves when the program has taken all of it. In the order of the calls. */
  write(bytes: Uint8Array): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  signal(signal: SessionSignal): Promise<void>;
  /** From now on the session stays when the orchestrator that has started it goes. */
  detach(): Promise<void>;
}

/** @throws ExecutorConnectionError `unsupported` where no input is taken beside calls that wait */
export function openSessionInput(
  executor: ExecutorConnection,
  processId: number,
  hooks: Pick<RunHooks, "newKey" | "answerMarginMs">,
): SessionInput {
  const tools = findProgramTools(executor);
  if (tools === undefined || !executor.can("concurrent_input") || !executor.can("detached")) {
    throw new ExecutorConnectionError(
      "unsupported",
      `executor \`${executor.name}\` is too old to attach to its sessions`,
    );
  }
  const send = async (step: Partial<WriteStdinRequest>) => {
    const request = {
      processId,
      input: "",
      yieldTimeMs: 0,
      maxOutputTokens: 0,
      writeId: hooks.newKey(),
      concurrent: true,
    };
    const sent = executor.call({
      toolName: tools.stdin,
      arguments: { ...request, until: "written", ...step },
      isInstanceBound: true,
      deadlineMs: WINDOW_MS + hooks.answerMarginMs,
      sessionScope: "executor",
    });
    const failure = failureOf(await sent.reply);
    if (failure !== undefined) throw new Error(failure);
  };
  let last: Promise<void> = Promise.resolve();
  return {
    write(bytes) {
      const write = () => send({ input: Buffer.from(bytes).toString("base64"), inputEncoding: "base64" });
      last = last.then(write, write);
      return last;
    },
    resize: (size) => send({ resize: size }),
    signal: (signal) => send({ signal }),
    detach: () => send({ detach: true }),
  };
}
