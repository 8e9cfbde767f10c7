import { type Counter, createRegistry, type Gauge, type Histogram, type Registry } from "@codex/telemetry";
import { defined } from "@codex/values";
import { REFUSAL_STATUS, type RefusalCode } from "./refusal.js";

/** Transport between an executor and its harnesses. */
const TRANSPORTS = ["noise", "legacy", "direct"] as const;

/** Transport between an executor and its harnesses: `noise` is end-to-end encrypted, the others are not. */
export type Transport = (typeof TRANSPORTS)[number];

const DIRECTIONS = ["to_executor", "to_harness"] as const;
export type Direction = (typeof DIRECTIONS)[number];

const DROPS = ["invalid", "too_large", "text", "unknown_stream", "foreign_stream"] as const;
/** Why a frame was not forwarded. */
export type Drop = (typeof DROPS)[number];

const RESETS = ["harness_gone", "unread"] as const;
/** Why the rendezvous ended a stream. */
export type ResetCause = (typeof RESETS)[number];

/** Metrics of a rendezvous. */
export interface RendezvousMetrics {
  executors: Readonly<Record<Transport, Gauge>>;
  harnesses: Readonly<Record<Transport, Gauge>>;
  registrations: Readonly<Record<Transport, Counter>>;
  replaced: Counter;
  connects: Counter;
  validations: Readonly<Record<"admitted" | "refused", Counter>>;
  refusals: Readonly<Record<RefusalCode, Counter>>;
  frames: Readonly<Record<Direction, Counter>>;
  bytes: Readonly<Record<Direction, Counter>>;
  dropped: Readonly<Record<Drop, Counter>>;
  resets: Readonly<Record<ResetCause, Counter>>;
  silent: Counter;
  unread: Gauge;
  requestSeconds: Histogram;
}

/** Creates all metrics at 0, so that each exists before its first event. */
export function createMetrics(registry: Registry = createRegistry()): RendezvousMetrics {
  const options = (name: string, help: string, labels?: Record<string, string>) => ({
    name: `codex_rendezvous_${name}`,
    help,
    ...defined({ labels }),
  });
  const gauges = <K extends string>(name: string, help: string, label: string, values: readonly K[]) =>
    byValue(values, (value) => registry.gauge(options(name, help, { [label]: value })));
  const counters = <K extends string>(name: string, help: string, label: string, values: readonly K[]) =>
    byValue(values, (value) => registry.counter(options(`${name}_total`, help, { [label]: value })));
  const count = (name: string, help: string) => registry.counter(options(`${name}_total`, help));
  return {
    executors: gauges("executors_live", "Executors that are connected.", "transport", TRANSPORTS),
    harnesses: gauges("harnesses_live", "Harnesses that are connected.", "transport", TRANSPORTS),
    registrations: counters("registrations", "Registrations of executors.", "transport", TRANSPORTS),
    replaced: count(
      "registrations_replaced",
      "Registrations that were replaced by a newer one of the same environment.",
    ),
    connects: count("connects", "Tickets given to harnesses."),
    validations: counters("validations", "Responses to executors that asked whether to admit a harness.", "result", [
      "admitted",
      "refused",
    ]),
    // Its keys are those codes.
    refusals: counters(
      "refusals",
      "Requests and connections that were refused.",
      "reason",
      Object.keys(REFUSAL_STATUS) as RefusalCode[],
    ),
    frames: counters("frames", "Messages that were forwarded.", "direction", DIRECTIONS),
    bytes: counters("bytes", "Bytes of the messages that were forwarded.", "direction", DIRECTIONS),
    dropped: counters("dropped_frames", "Messages that were not forwarded.", "reason", DROPS),
    resets: counters("resets", "Streams that the rendezvous has ended.", "cause", RESETS),
    silent: count("silent_connections", "Connections that were terminated because nothing was received from them."),
    unread: registry.gauge(options("unread_bytes", "Bytes of streams that are behind, waiting to be read.")),
    requestSeconds: registry.histogram(
      options("request_duration_seconds", "Time from a request to the registry to its response."),
    ),
  };
}

/** Creates an object with one member per value. */
const byValue = <K extends string, T>(values: readonly K[], make: (value: K) => T) =>
  Object.fromEntries(values.map((value) => [value, make(value)])) as Record<K, T>;
