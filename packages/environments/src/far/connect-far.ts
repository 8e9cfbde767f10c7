import type { Channel } from "@codex/channel";
import { ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import type { EnvironmentLink } from "../links/link.js";
import { LinkError } from "../links/link-error.js";
import { FirstAnswer } from "./first-answer.js";

/** What was found at the other end of a link. */
export type FarSide =
  | { serves: "exec-server"; client: ExecServerClient }
  /** The channel has carried nothing that an executor would remember. */
  | { serves: "executor"; channel: Channel };

/**
 * Connects, and finds out in the handshake what is there. `signal` gives it up.
 * @throws what the link throws, RpcError or ClientError of the handshake
 */
export async function connectFar(link: EnvironmentLink, options: LinkOptions, signal: AbortSignal): Promise<FarSide> {
  const { channel, serves } = await link.open(signal);
  if (serves === "executor") return { serves, channel };
  const probe = new FirstAnswer(channel);
  const giveUp = () => void channel.close({ abrupt: true });
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    const client = await ExecServerClient.connect(createConnector(probe, link), options);
    return { serves: "exec-server", client };
  } catch (error) {
    if (probe.isExecutor === true) return { serves: "executor", channel };
    signal.throwIfAborted();
    if (probe.problem === undefined) throw error;
    const what = "what answers is neither an exec-server nor an executor";
    throw new LinkError("handshake_failed", `${what}: ${probe.problem}`);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function createConnector(first: Channel, link: EnvironmentLink) {
  let opened: Channel | undefined = first;
  return {
    canReopen: true,
    async open(signal: AbortSignal): Promise<Channel> {
      const given = opened;
      opened = undefined;
      return given ?? (await link.open(signal)).channel;
    },
  };
}
