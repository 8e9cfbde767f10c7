import type { Clock } from "@codex/clock";
import type { HostDecision, HostEnd } from "@codex/exec-backend";
import type { ExecutorMessage, HostActivity } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { HOST_REPORT_MS, MAX_REPORTED_HOSTS } from "../limits.js";

type ReportMessage = Extract<ExecutorMessage, { type: "host_report" }>;

/** What a session does about hosts, as the orchestrator is told: at most once a second, and before each of its results. */
export class SessionReports {
  readonly #key: string;
  readonly #send: (message: ReportMessage) => void;
  readonly #clock: Pick<Clock, "after">;
  readonly #hosts = new Map<string, HostActivity>();
  readonly #changed = new Set<string>();
  #omitted = 0;
  #toldOmitted = 0;
  #cancel: (() => void) | undefined;

  constructor(key: string, send: (message: ReportMessage) => void, clock: Pick<Clock, "after">) {
    this.#key = key;
    this.#send = send;
    this.#clock = clock;
  }

  readonly onDecision = ({ source, count, ...decision }: HostDecision): void => {
    const { host, port, protocol, decision: made, reason, rule } = decision;
    const key = JSON.stringify([host, port, protocol, made, source, reason, rule]);
    const known = this.#hosts.get(key);
    if (known === undefined && this.#hosts.size >= MAX_REPORTED_HOSTS) {
      this.#omitted += count;
      return this.#schedule();
    }
    const place = { host, port, protocol, decision: made, by: source, ...defined({ reason, rule }) };
    this.#set(key, known ?? { ...place, count: 0, ended: 0, sent: 0, received: 0 }, { count });
  };

  readonly onEnd = ({ host, port, protocol, sent, received }: HostEnd): void => {
    // The latest decision that allowed it: an earlier one may have been made by somebody else.
    const key = [...this.#hosts].findLast(
      ([, known]) =>
        known.decision === "allow" && known.host === host && known.port === port && known.protocol === protocol,
    )?.[0];
    if (key !== undefined) this.#set(key, this.#hosts.get(key)!, { ended: 1, sent, received });
  };

  /** Tells what has changed since the last report. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#changed.size === 0 && this.#omitted === this.#toldOmitted) return;
    this.#report([...this.#changed]);
  }

  /** Tells all again: reports may have been lost. */
  repeat(): void {
    if (this.#hosts.size > 0 || this.#omitted > 0) this.#report([...this.#hosts.keys()]);
  }

  #set(
    key: string,
    known: HostActivity,
    more: Partial<Pick<HostActivity, "count" | "ended" | "sent" | "received">>,
  ): void {
    const { count = 0, ended = 0, sent = 0, received = 0 } = more;
    this.#hosts.set(key, {
      ...known,
      count: known.count + count,
      ended: known.ended + ended,
      sent: known.sent + sent,
      received: known.received + received,
    });
    this.#changed.add(key);
    this.#schedule();
  }

  #schedule(): void {
    this.#cancel ??= this.#clock.after(HOST_REPORT_MS, () => this.flush());
  }

  #report(keys: readonly string[]): void {
    this.#changed.clear();
    this.#toldOmitted = this.#omitted;
    const hosts = keys.map((key) => this.#hosts.get(key)!);
    this.#send({ type: "host_report", key: this.#key, hosts, omitted: this.#omitted });
  }
}
