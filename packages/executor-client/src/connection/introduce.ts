import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";
import { type ExecutorMessage, type OrchestratorMessage, parseExecutorMessage } from "@codex/executor-protocol";

type InitializeMessage = Extract<OrchestratorMessage, { type: "initialize" }>;
export type Introduction = Extract<ExecutorMessage, { type: "initialize_response" }>;

export type IntroductionReply = { kind: "answer"; message: Introduction } | { kind: "refused"; message: string };

/** Sends `initialize` on a new channel without a receiver. @throws Error if there is no response */
export async function introduce(
  channel: Channel,
  request: InitializeMessage,
  { clock, deadlineMs }: { clock: Clock; deadlineMs: number },
): Promise<IntroductionReply> {
  let stopClock = () => {};
  const late = new Promise<never>((_, reject) => {
    stopClock = clock.after(deadlineMs, () =>
      reject(new Error(`\`initialize\` was not answered within ${deadlineMs} ms`)),
    );
  });
  try {
    return await Promise.race([exchange(channel, request), late]);
  } finally {
    stopClock();
  }
}

async function exchange(channel: Channel, request: InitializeMessage): Promise<IntroductionReply> {
  await channel.send(request);
  for (let received = await channel.receive(); received !== undefined; received = await channel.receive()) {
    const parsed = received.kind === "value" ? parseExecutorMessage(received.value) : undefined;
    if (parsed?.kind !== "ok") continue;
    const { message } = parsed;
    if (message.type === "initialize_response" && message.requestId === request.requestId) {
      return { kind: "answer", message };
    }
    if (message.type !== "error") continue;
    // A peer that cannot parse `initialize` may not know its id either. No other request is pending.
    if (message.requestId === request.requestId || message.requestId === null) {
      return { kind: "refused", message: message.message };
    }
  }
  const end = await channel.closed;
  const cause = end.kind === "failed" ? end.error : undefined;
  const why = cause === undefined ? "" : `: ${cause.message}`;
  throw new Error(`the channel ended before \`initialize\` was answered${why}`, { cause });
}
