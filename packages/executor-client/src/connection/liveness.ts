import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";

export interface LivenessOptions {
  clock: Clock;
  /** Of silence before the peer is asked, and for its sign of life, milliseconds. */
  ms: number;
  /** Counts what has come from the peer. */
  getReceived: () => number;
  /** Whether anything is waited for. */
  isWaiting: () => boolean;
  /** The peer gave no sign of life. */
  onDead: () => void;
}

/** Pings a peer that is silent, where the channel can. Returns a function that stops it. */
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
