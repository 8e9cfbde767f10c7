import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";

export interface LivenessOptions {
  clock: Clock;
  /** Silence before the peer is pinged, and time limit for the pong, milliseconds. */
  ms: number;
  /** Number of messages received from the peer. */
  getReceived: () => number;
  /** Whether it matters now that the peer is there. */
  isWaiting: () => boolean;
  /** Called if the peer did not respond. */
  onDead: () => void;
}

/** Pings a silent peer, if the channel supports it. Returns a function that stops it. */
export function watchPeer(
  channel: Channel,
  { clock, ms, getReceived, isWaiting, onDead }: LivenessOptions,
): () => void {
  let isOver = false;
  let stopClock = () => {};
  const arm = () => {
    if (isOver) return;
    const before = getReceived();
    stopClock = clock.after(ms, () => void look(before).then((isAlive) => (isAlive || isOver ? arm() : onDead())));
  };
  const look = async (before: number) => {
    if (!isWaiting() || getReceived() !== before) return true;
    return (await channel.isPeerAlive?.(ms)) ?? true;
  };
  if (channel.isPeerAlive !== undefined) arm();
  return () => {
    isOver = true;
    stopClock();
  };
}
