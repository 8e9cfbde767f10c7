import type { Channel } from "@codex/channel";
import type { Clock } from "@codex/clock";

/**
 * Pings the server, if the channel supports it, and closes a channel that died silently, so that its session can be resumed
 * before the server ends it. Returns a function that stops it.
 * @param ms between two pings, and time limit for a sign of life, milliseconds
 */
export function watchServer(channel: Channel, clock: Clock, ms: number): () => void {
  let isOver = false;
  let stopClock = () => {};
  const arm = () => {
    stopClock = clock.after(ms, () => void look());
  };
  const look = async () => {
    const isAlive = await channel.isPeerAlive?.(ms);
    if (isOver) return;
    if (isAlive === false) await channel.close({ abrupt: true });
    else arm();
  };
  if (channel.isPeerAlive !== undefined) arm();
  return () => {
    isOver = true;
    stopClock();
  };
}
