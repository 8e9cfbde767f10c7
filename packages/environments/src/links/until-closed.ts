import { type Clock, waitAtMost, waitUnlessAborted } from "@codex/clock";
import { ABORTED_OPEN_MS } from "../limits.js";
import type { EnvironmentLink } from "./link.js";

/** Wraps a link so that nothing is opened through it once `closing` aborts, not even by an attempt that ignores its signal. */
export const openUntil = (link: EnvironmentLink, closing: AbortSignal, clock: Clock): EnvironmentLink => ({
  get secrets() {
    return link.secrets ?? [];
  },
  async open(signal) {
    const over = AbortSignal.any([signal, closing]);
    over.throwIfAborted();
    const opening = link.open(over);
    const opened = await waitUnlessAborted(over, opening);
    if (opened !== undefined && !over.aborted) return opened;
    const closed = opening.then(
      ({ channel }) => channel.close({ abrupt: true }),
      () => {},
    );
    await waitAtMost(clock, ABORTED_OPEN_MS, closed);
    throw over.reason;
  },
  canOpenSeveral: link.canOpenSeveral ?? false,
  close: async () => link.close?.(),
});
