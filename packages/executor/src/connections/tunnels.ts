import { type Channel, MIN_TUNNEL_WINDOW, Tunnel } from "@codex/channel";
import {
  createTunnelClose,
  createTunnelPiece,
  deliverTunnelMessage,
  type ExecutorMessage,
  type OrchestratorMessage,
  type TunnelMessage,
} from "@codex/executor-protocol";
import { describeFault, type Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import type { ExecutorLimits } from "../limits.js";

/** An exec-server of the executor's host, for one orchestrator. */
export interface HostedExecServer {
  /** Serves one client over a channel, which it owns. Resolves when the channel has ended. Never rejects. */
  serve(channel: Channel): Promise<void>;
  /**
   * Starts nothing more, and ends the processes that clients have started while their events are still delivered; they have `waitMs` to
   * end by themselves. Never rejects.
   */
  drain?(options?: { waitMs?: number }): Promise<void>;
  /** Ends the processes that clients have started. Never rejects. */
  close(): Promise<void>;
}

/** Creates the exec-server of one orchestrator, when it first opens a tunnel. */
export type CreateExecServer = () => HostedExecServer | Promise<HostedExecServer>;

/** How an executor creates its exec-server, or why it offers none. */
export type ExecServerOffer = { create: CreateExecServer } | { refusal: string };

export interface TunnelsOptions {
  offer: ExecServerOffer;
  limits: Pick<ExecutorLimits, "execServerTunnels" | "execServerWindowBytes">;
  /** Sends to the orchestrator over the current channel. Resolves with the reason when the message could not be sent. */
  send: (message: TunnelMessage) => Promise<string | undefined>;
  log: Logger;
}

type OpenMessage = Extract<OrchestratorMessage, { type: "open_exec_server" }>;
type OpenResponse = Extract<ExecutorMessage, { type: "open_exec_server_response" }>;

/**
 * The tunnels of one orchestrator to the executor's exec-server. They end with the outer channel; the exec-server exists until
 * the connection ends, so that a client can resume its session through another tunnel.
 */
export class Tunnels {
  readonly #options: TunnelsOptions;
  readonly #open = new Map<number, Tunnel>();
  readonly #serving = new Set<Promise<void>>();
  #server: Promise<HostedExecServer> | undefined;
  /** The largest number of a tunnel that was opened. */
  #last = 0;
  #isClosed = false;

  constructor(options: TunnelsOptions) {
    this.#options = options;
  }

  get isOffered(): boolean {
    return "create" in this.#options.offer;
  }

  /** Whether clients may have started processes. */
  get wasUsed(): boolean {
    return this.#server !== undefined;
  }

  /** Opens a tunnel and returns the response, or the reason for refusing it. */
  open({ requestId, tunnel: number, windowBytes }: OpenMessage): OpenResponse | string {
    const { offer, limits } = this.#options;
    if ("refusal" in offer) return offer.refusal;
    if (number <= this.#last) return `tunnel ${number}: the number was used before`;
    if (this.#open.size >= limits.execServerTunnels) {
      return `${this.#open.size} tunnels to the exec-server are open (limit ${limits.execServerTunnels} tunnels)`;
    }
    this.#last = number;
    const received = Math.max(MIN_TUNNEL_WINDOW, limits.execServerWindowBytes);
    const tunnel = this.#createTunnel(number, { received, sent: windowBytes });
    this.#open.set(number, tunnel);
    const served = this.#serve(tunnel, offer.create).finally(() => {
      if (this.#open.get(number) === tunnel) this.#open.delete(number);
      this.#serving.delete(served);
    });
    this.#serving.add(served);
    return { type: "open_exec_server_response", requestId, windowBytes: received };
  }

  /** Returns the peer's protocol violation, if any. A message for a tunnel that has ended is dropped. */
  handle(message: TunnelMessage): string | undefined {
    const tunnel = this.#open.get(message.tunnel);
    if (tunnel === undefined) {
      return message.tunnel > this.#last ? `tunnel ${message.tunnel} was not opened` : undefined;
    }
    return deliverTunnelMessage(message, tunnel);
  }

  /** Ends all tunnels, as the outer channel has ended. */
  drop(reason: string): void {
    for (const tunnel of this.#open.values()) tunnel.fail(new Error(reason));
    this.#open.clear();
    // Over the next channel a request to open a tunnel may be repeated.
    this.#last = 0;
  }

  /** Ends the processes of the exec-server, which have `waitMs` to end by themselves, while clients still learn how. Never rejects. */
  async drain(waitMs = 0): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.drain?.({ waitMs });
  }

  /** Ends the tunnels and the exec-server with its processes. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.drop("the connection to the orchestrator has ended");
    const server = await this.#server?.catch(() => undefined);
    await server?.close();
    await Promise.all(this.#serving);
  }

  #createTunnel(number: number, windows: { received: number; sent: number }): Tunnel {
    const { send } = this.#options;
    return new Tunnel(
      {
        async sendPiece(data, isLast) {
          const problem = await send(createTunnelPiece(number, data, isLast));
          if (problem !== undefined) throw new Error(problem);
        },
        sendAck: (takenBytes) => void send({ type: "exec_server_ack", tunnel: number, takenBytes }),
        sendClose: (reason) => void send(createTunnelClose(number, reason)),
      },
      windows,
    );
  }

  async #serve(tunnel: Tunnel, create: CreateExecServer): Promise<void> {
    const { log } = this.#options;
    try {
      this.#server ??= Promise.resolve().then(create);
      const server = await this.#server;
      if (this.#isClosed) return;
      await server.serve(tunnel);
    } catch (error) {
      this.#server = undefined;
      log.error?.("the exec-server failed", describeFault(error));
      tunnel.abandon(`the exec-server failed: ${messageOf(error)}`);
    } finally {
      await tunnel.close({ deadlineMs: 0 });
    }
  }
}
