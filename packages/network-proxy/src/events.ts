import type { Clock } from "@codex/clock";
import type { DenyReason } from "@codex/network-policy";
import { EVENT_WINDOW_MS, MAX_NAMES } from "./limits.js";

/** How a target was named to the proxy. */
export type Protocol = "http" | "connect" | "socks5" | "direct";

/** Why a connection was refused, or did not come about although it was allowed. */
export type Failure =
  | DenyReason
  /** The text is no host and port, or the request is none that a proxy takes. */
  | "malformed"
  /** The name of the TLS handshake is not that of the target. */
  | "sni_mismatch"
  | "unix_socket_unsupported"
  /** The route does not lead to this path. */
  | "path_not_allowed"
  /** The secret of the route could not be read. */
  | "secret_unavailable"
  /** The certificate of the host of a route is not trusted. */
  | "untrusted"
  | "too_many_connections"
  | "unresolvable"
  | "unreachable"
  | "timeout";

/** What the proxy did about a target. */
export interface DecisionEvent {
  kind: "decision";
  /** Whose connection it was; see `accept` of the proxy. */
  client: string;
  host: string;
  port: number;
  protocol: Protocol;
  decision: "allow" | "deny";
  /** Who decided. */
  source: "policy" | "asked" | "remembered" | "limit" | "sni" | "network";
  reason?: Failure;
  /** The pattern of the rule that decided, and where it stands as `file:line`. */
  rule?: { pattern: string; source?: string };
  /** The address that was connected to. */
  address?: string;
  /** Equal events that this one stands for. */
  count: number;
}

/** A connection to a host has ended. */
export interface EndEvent {
  kind: "end";
  client: string;
  host: string;
  port: number;
  protocol: Protocol;
  /** Bytes from the command to the host, and back. */
  sent: number;
  received: number;
  durationMs: number;
}

/** A program has looked up the address of a host, to connect to it without the proxy. */
interface LookupEvent {
  kind: "lookup";
  host: string;
}

/** What a proxy reports: each decision, each end of a connection, each name that was looked up. */
export type NetworkEvent = DecisionEvent | EndEvent | LookupEvent;

/** Passes each decision on at once, and counts equal ones that follow within a second, which are passed on as one. */
export class EventCounter {
  readonly #listener: (event: NetworkEvent) => void;
  readonly #clock: Pick<Clock, "after">;
  readonly #repeated = new Map<string, { event: DecisionEvent; count: number }>();
  readonly #timers = new Set<() => void>();

  constructor(listener: (event: NetworkEvent) => void, clock: Pick<Clock, "after">) {
    this.#listener = listener;
    this.#clock = clock;
  }

  add(event: NetworkEvent): void {
    if (event.kind !== "decision") return this.#listener(event);
    const { address: _, ...compared } = event;
    const key = JSON.stringify(compared);
    const earlier = this.#repeated.get(key);
    if (earlier !== undefined) {
      earlier.count += 1;
      return;
    }
    this.#listener(event);
    if (this.#repeated.size >= MAX_NAMES) return;
    this.#repeated.set(key, { event, count: 0 });
    const cancel = this.#clock.after(EVENT_WINDOW_MS, () => {
      this.#timers.delete(cancel);
      this.#pass(key);
      this.#repeated.delete(key);
    });
    this.#timers.add(cancel);
  }

  /** Passes on what was counted. */
  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.flush();
    this.#repeated.clear();
  }

  /** Passes on what was counted so far. */
  flush(): void {
    for (const key of this.#repeated.keys()) this.#pass(key);
  }

  #pass(key: string): void {
    const repeated = this.#repeated.get(key);
    if (repeated === undefined || repeated.count === 0) return;
    const { event, count } = repeated;
    repeated.count = 0;
    this.#listener({ ...event, count });
  }
}
