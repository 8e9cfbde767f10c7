import type { Channel } from "@codex/channel";
import { ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import type { EnvironmentLink } from "../links/link.js";
import { LinkError } from "../links/link-error.js";
import { ProtocolProbe } from "./protocol-probe.js";

/**
 * Connects, and detects the protocol of the peer in the handshake. `signal` cancels the attempt.
 * @throws what the link throws, RpcError or ClientError of the handshake
 */
export async function connectRemote(
  link: EnvironmentLink,
  options: LinkOptions,
  signal: AbortSignal,
): Promise<RemoteSide> {
  const { channel, serves } = await link.open(signal);
  if (serves === "executor") return { serves, channel };
  const probe = new ProtocolProbe(channel);
  const onAbort = () => void channel.close({ abrupt: true });
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const client = await ExecServerClient.connect(createConnector(probe, link), options);
    return { serves: "exec-server", client };
  } catch (error) {
    if (probe.isExecutor === true) return { serves: "executor", channel };
    signal.throwIfAborted();
    const { leadingTextBytes = 0 } = channel;
    const isSilent = !probe.hasAnswered && leadingTextBytes > 0;
    const problem =
      probe.problem ?? (isSilent ? `it printed ${leadingTextBytes} bytes of text, and no message` : undefined);
    if (problem === undefined) throw error;
    throw new LinkError("handshake_failed", `the peer is neither an exec-server nor an executor: ${problem}`);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** The peer at the other end of a link. */
export type RemoteSide =
  | { serves: "exec-server"; client: ExecServerClient }
  /** Nothing was sent over the channel that affects the state of an executor. */
  | { serves: "executor"; channel: Channel };

function createConnector(first: Channel, link: EnvironmentLink) {
  let opened: Channel | undefined = first;
  return {
    canReopen: true,
    canOpenSeveral: link.canOpenSeveral ?? false,
    async open(signal: AbortSignal): Promise<Channel> {
      const given = opened;
      opened = undefined;
      return given ?? (await link.open(signal)).channel;
    },
  };
}
