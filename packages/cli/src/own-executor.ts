import { type Channel, createMemoryChannelPair } from "@codex/channel";
import { createLocalBackend } from "@codex/exec-server";
import { createExecutor } from "@codex/executor";

/** An executor of this host in this process. Closing the channel ends it and everything it started. */
export function startOwnExecutor(): Channel {
  const [ours, its] = createMemoryChannelPair();
  void createExecutor({ backend: () => createLocalBackend({ shielded: true }) }).serve(its, { resumable: false });
  return ours;
}
