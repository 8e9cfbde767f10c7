import { type Channel, DEFAULT_TUNNEL_WINDOW, Tunnel } from "@codex/channel";
import type { TunnelMessage } from "@codex/executor-protocol";
import { ExecutorConnectionError } from "../errors.js";
import { describeReply } from "./describe-reply.js";
import type { RequestBody, ResponseMessage, SentRequest } from "./wire-types.js";

/** Messages of a tunnel that may come before its opening was noticed: those of one turn. More are counted as problems. */
const MAX_EARLY_MESSAGES = 64;

export interface TunnelsOptions {
  /** Of the executor. */
  name: string;
  open: (body: RequestBody & { type: "open_exec_server" }) => SentRequest<ResponseMessage<"open_exec_server_response">>;
  post: (message: TunnelMessage) => Promise<void>;
}

/** The tunnels to the exec-server beside one executor. They end with the channel that carries them. */
export class Tunnels {
  readonly #options: TunnelsOptions;
  readonly #open = new Map<number, Tunnel>();
  /** What comes right behind the answer that a tunnel is open, for those that are being opened. */
  readonly #early = new Map<number, TunnelMessage[]>();
  /** Of the last tunnel. */
  #last = 0;

  constructor(options: TunnelsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** The caller owns the channel. @throws ExecutorConnectionError `unsupported` saying why there is none */
  async open(signal: AbortSignal | undefined): Promise<Channel> {
    const { name, open, post } = this.#options;
    this.#last += 1;
    const number = this.#last;
    const early: TunnelMessage[] = [];
    this.#early.set(number, early);
    const { reply } = open({ type: "open_exec_server", tunnel: number, windowBytes: DEFAULT_TUNNEL_WINDOW });
    const answer = await reply;
    this.#early.delete(number);
    if (answer.kind === "answer" && signal?.aborted !== true) {
      const tunnel = this.#create(number, answer.message.windowBytes);
      this.#open.set(number, tunnel);
      for (const message of early) this.handle(message);
      void tunnel.closed.then(() => {
        if (this.#open.get(number) === tunnel) this.#open.delete(number);
      });
      return tunnel;
    }
    // It may be opened all the same, later.
    if (answer.kind === "answer" || answer.kind === "timeout") {
      post({ type: "exec_server_closed", tunnel: number }).catch(() => {}); // it ended with its channel
    }
    if (answer.kind === "answer")
      throw new ExecutorConnectionError("closed", `executor \`${name}\`: opening was given up`);
    const code = answer.kind === "refused" ? "unsupported" : "exec_server_failed";
    const what = answer.kind === "refused" ? answer.message : describeReply(answer);
    throw new ExecutorConnectionError(code, `executor \`${name}\`: its exec-server cannot be used: ${what}`);
  }

  /** Returns what is wrong with the message, if anything. What comes for a tunnel that has ended is dropped. */
  handle(message: TunnelMessage): string | undefined {
    const early = this.#early.get(message.tunnel);
    if (early !== undefined) {
      if (early.length >= MAX_EARLY_MESSAGES) return `tunnel ${message.tunnel} is not open yet`;
      early.push(message);
      return undefined;
    }
    const tunnel = this.#open.get(message.tunnel);
    if (tunnel === undefined) {
      return message.tunnel > this.#last ? `tunnel ${message.tunnel} was not opened` : undefined;
    }
    switch (message.type) {
      case "exec_server":
        return tunnel.receivePiece(message.data, message.more !== true);
      case "exec_server_ack":
        tunnel.receiveTaken(message.takenBytes);
        return undefined;
      case "exec_server_closed":
        tunnel.receiveEnd(message.reason);
        return undefined;
    }
  }

  /** The channel that carries them is gone. */
  drop(reason: string): void {
    for (const tunnel of [...this.#open.values()]) tunnel.fail(new Error(reason));
    this.#open.clear();
  }

  #create(number: number, granted: number): Tunnel {
    const { post } = this.#options;
    const tell = (message: TunnelMessage) => void post(message).catch(() => {}); // it ends with its channel
    return new Tunnel(
      {
        sendPiece: (data, isLast) =>
          post({ type: "exec_server", tunnel: number, data, ...(isLast ? {} : { more: true }) }),
        sendTaken: (takenBytes) => tell({ type: "exec_server_ack", tunnel: number, takenBytes }),
        sendEnd: (reason) =>
          tell({ type: "exec_server_closed", tunnel: number, ...(reason === undefined ? {} : { reason }) }),
      },
      { received: DEFAULT_TUNNEL_WINDOW, sent: granted },
    );
  }
}
