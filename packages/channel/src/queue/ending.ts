import type { ChannelEnd } from "../channel.js";
import { ChannelError } from "../errors.js";

/** The end of a channel: the first cause wins. */
export class Ending {
  readonly closed: Promise<ChannelEnd>;
  #resolve!: (end: ChannelEnd) => void;
  #end: ChannelEnd | undefined;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get end(): ChannelEnd | undefined {
    return this.#end;
  }

  settle(end: ChannelEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#resolve(end);
  }
}

/** The error that a sender gets after the end. */
export function closedError(end: ChannelEnd | undefined): ChannelError {
  if (end?.kind === "failed") {
    return new ChannelError("closed", `channel has failed: ${end.error.message}`, { cause: end.error });
  }
  if (end?.kind !== "peer_closed") return new ChannelError("closed", "channel is closed");
  const detail = end.detail === undefined ? "" : `: ${end.detail}`;
  return new ChannelError("closed", `channel was closed by its peer${detail}`);
}
