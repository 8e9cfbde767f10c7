import { waitUnlessAborted } from "@codex/clock";
import type { RecordedOutput } from "@codex/executor-protocol";
import { createOutages, written } from "@codex/foreground";
import { createOrchestrator } from "@codex/orchestrator";
import { CommandError, EXIT } from "../exit-codes.js";
import { say } from "../notice.js";
import { readSession } from "../read-session.js";
import { attachSessions, checkSessionsAddress, type SessionsAddress } from "./sessions.js";

/** Maximum wait for output per call, milliseconds; the next call follows immediately. */
const WAIT_MS = 60_000;

/** Prints the output of a session until it ends or Ctrl-C, which leaves the session running. Ends with the session's exit code. */
export async function runAttachSession(id: number, options: SessionsAddress): Promise<void> {
  const address = checkSessionsAddress(options);
  const outages = createOutages(say, "Ctrl-C leaves");
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never" }, ...outages.hooks });
  const stop = new AbortController();
  const onStop = () => stop.abort();
  process.once("SIGINT", onStop);
  process.once("SIGTERM", onStop);
  let closePlace = async () => {};
  try {
    closePlace = await attachSessions(orchestrator, address);
    let part: RecordedOutput | undefined;
    /** Set once the session was found: the executor forgets a session when its own orchestrator has received all of it. */
    const forget = (error: unknown) => {
      if (part === undefined || !(error instanceof CommandError)) throw error;
      throw new CommandError(
        `session ${id} has ended, and its exit code was reported to whoever started it`,
        EXIT.lost,
      );
    };
    do {
      const from: number = part?.range.to ?? 0;
      const waitMs = part === undefined ? 0 : WAIT_MS;
      const next = readSession(orchestrator, { id, from, waitMs }, stop.signal).catch(forget);
      // While the connection is lost there is no response: do not wait for one.
      next.catch(() => {});
      part = await waitUnlessAborted(stop.signal, next);
      if (part !== undefined) await show(part);
    } while (part !== undefined && !isOver(part));
    if (part === undefined) say(`session ${id} keeps running`);
    else process.exitCode = part.exitCode ?? EXIT.failure;
  } finally {
    process.off("SIGINT", onStop);
    process.off("SIGTERM", onStop);
    await orchestrator.close();
    await closePlace();
  }
}

const isOver = ({ outcome, closed, range, end }: RecordedOutput): boolean =>
  outcome.kind !== "running" && closed && range.to === end;

async function show({ chunks, gone }: RecordedOutput): Promise<void> {
  for (const { from, to } of gone) say(`bytes ${from}-${to} of the output are gone: they were not retained`);
  for (const { stream, data } of chunks) {
    const to = stream === "stderr" ? process.stderr : process.stdout;
    if (!to.write(Buffer.from(data, "base64"))) await written(to);
  }
}
