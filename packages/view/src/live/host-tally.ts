import type { HostActivity } from "@codex/executor-protocol";
import { MAX_SHOWN_HOSTS } from "../limits.js";
import type { ShownHost } from "../wire/entities.js";
import { shorten } from "./text.js";

/** What a command has done about hosts, for each host, decision and reason. */
export class HostTally {
  readonly #hosts = new Map<string, ShownHost>();
  #omitted = 0;

  add(hosts: readonly HostActivity[], omitted: number): void {
    this.#omitted += omitted;
    for (const { host, port, decision, reason, rule, count, sent, received } of hosts) {
      const name = `${host.includes(":") ? `[${host}]` : host}${port === 0 ? "" : `:${port}`}`;
      const isAllowed = decision === "allow";
      const why = isAllowed ? "" : (rule?.pattern ?? reason ?? "").replaceAll("_", " ");
      const key = JSON.stringify([name, isAllowed, why]);
      const known = this.#hosts.get(key);
      if (known === undefined && this.#hosts.size >= MAX_SHOWN_HOSTS) this.#omitted += count;
      else {
        const before = known ?? {
          name: shorten(name, 300),
          isAllowed,
          why: shorten(why, 300),
          count: 0,
          sent: 0,
          received: 0,
        };
        this.#hosts.set(key, {
          ...before,
          count: before.count + count,
          sent: before.sent + sent,
          received: before.received + received,
        });
      }
    }
  }

  get hosts(): readonly ShownHost[] {
    return [...this.#hosts.values()];
  }

  /** Connections that are not counted apart. */
  get omitted(): number {
    return this.#omitted;
  }
}
