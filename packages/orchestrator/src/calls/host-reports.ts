import type { HostReport } from "@codex/executor-client";
import type { HostActivity } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import type { CallTelemetry } from "./call-telemetry.js";

/** What a call is told: what its command did about hosts since the last time. */
type OnHosts = (hosts: readonly HostActivity[], omitted: number) => void;

interface FollowedCommand {
  readonly onHosts: OnHosts;
  readonly known: Map<string, HostActivity>;
  omitted: number;
}

/** Tells calls what the commands that they started do about hosts: reports count since the start of a command, and may be repeated. */
export class HostReports {
  readonly #limit: number;
  readonly #telemetry: Pick<CallTelemetry, "countHosts">;
  readonly #commands = new Map<string, FollowedCommand>();

  /** @param limit commands that are followed; the one that was added first is forgotten */
  constructor(limit: number, telemetry: Pick<CallTelemetry, "countHosts">) {
    this.#limit = limit;
    this.#telemetry = telemetry;
  }

  /** Call before the command is sent. @param key `network.reports` of the command; undefined for one that is not told of */
  follow(key: string | undefined, onHosts: OnHosts): void {
    if (key === undefined) return;
    this.#commands.set(key, { onHosts, known: new Map(), omitted: 0 });
    evictOldest(this.#commands, this.#limit);
  }

  note({ key, hosts, omitted }: HostReport): void {
    const command = this.#commands.get(key);
    if (command === undefined) return;
    const news = hosts.flatMap((host) => takeNews(host, command.known));
    const more = Math.max(0, omitted - command.omitted);
    command.omitted += more;
    if (news.length === 0 && more === 0) return;
    this.#telemetry.countHosts(news);
    command.onHosts(news, more);
  }
}

/** What is new of an entry; nothing where it repeats what is known. */
function takeNews(entry: HostActivity, known: Map<string, HostActivity>): HostActivity[] {
  const { host, port, protocol, decision, by, reason, rule } = entry;
  const key = JSON.stringify([host, port, protocol, decision, by, reason, rule]);
  const before = known.get(key) ?? NOTHING;
  const count = entry.count - before.count;
  const ended = entry.ended - before.ended;
  if (count < 0 || ended < 0 || (count === 0 && ended === 0)) return [];
  known.set(key, entry);
  return [{ ...entry, count, ended, sent: entry.sent - before.sent, received: entry.received - before.received }];
}

const NOTHING = { count: 0, ended: 0, sent: 0, received: 0 };
