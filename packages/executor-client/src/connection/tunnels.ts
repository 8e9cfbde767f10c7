import { type Channel, DEFAULT_TUNNEL_WINDOW, Tunnel } from "@codex/channel";
import {
  createTunnelClose,
  createTunnelPiece,
  deliverTunnelMessage,
  type TunnelMessage,
} from "@codex/executor-protocol";
import { ExecutorConnectionError } from "../errors.js";
import { describeReply } from "./describe-reply.js";
import type { RequestBody, ResponseMessage, SentRequest } from "./wire-types.js";

/** Maximum number of messages for a tunnel in the turn of the event loop in which it is opened. More are a protocol violation. */
const MAX_EARLY_MESSAGES = 64;

export interface TunnelsOptions {
  /** Name of the executor. */
  name: string;
  open: (body: RequestBody & { type: "open_exec_server" }) => SentRequest<ResponseMessage<"open_exec_server_response">>;
  post: (message: TunnelMessage) => Promise<void>;
}

/** The tunnels to one executor's exec-server. They end with the outer channel. */
export class Tunnels {
  readonly #options: TunnelsOptions;
  readonly #open = new Map<number, Tunnel>();
  /** Messages received before `open` has handled the response, by tunnel. */
  readonly #early = new Map<number, TunnelMessage[]>();
  /** The number of the last tunnel. */
  #last = 0;

  constructor(options: TunnelsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Opens a tunnel, which the caller owns. @throws ExecutorConnectionError `unsupported` with the executor's reason */
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
    // The executor has opened it, or may still do so.
    if (answer.kind === "answer" || answer.kind === "timeout") {
      post(createTunnelClose(number, undefined)).catch(() => {}); // the tunnel ended with its channel
    }
    if (answer.kind === "answer")
      throw new ExecutorConnectionError("closed", `executor \`${name}\`: opening was cancelled`);
    const code = answer.kind === "refused" ? "unsupported" : "exec_server_failed";
    const what = answer.kind === "refused" ? answer.message : describeReply(answer);
    throw new ExecutorConnectionError(code, `executor \`${name}\`: its exec-server cannot be used: ${what}`);
  }

  /** Returns the peer's protocol violation, if any. A message for a tunnel that has ended is dropped. */
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
    return deliverTunnelMessage(message, tunnel);
  }

  /** Ends all tunnels, as the outer channel has ended. */
  drop(reason: string): void {
    for (const tunnel of [...this.#open.values()]) tunnel.fail(new Error(reason));
    this.#open.clear();
  }

  #create(number: number, granted: number): Tunnel {
    const { post } = this.#options;
    const postAndForget = (message: TunnelMessage) => void post(message).catch(() => {}); // a tunnel ends with its channel
    return new Tunnel(
      {
        sendPiece: (data, isLast) => post(createTunnelPiece(number, data, isLast)),
        sendAck: (takenBytes) => postAndForget({ type: "exec_server_ack", tunnel: number, takenBytes }),
        sendClose: (reason) => postAndForget(createTunnelClose(number, reason)),
      },
      { received: DEFAULT_TUNNEL_WINDOW, sent: granted },
    );
  }
}
