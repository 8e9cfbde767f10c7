import { MAX_LISTED } from "../limits.js";
import { type Entry, isConnected, loadOf } from "./registrations.js";

/** The registered executors of the environments that the caller may connect to, for display; at most `MAX_LISTED`. */
export function listExecutors(entries: Iterable<Entry>, mayConnect: (environmentId: string) => boolean): object[] {
  const listed: object[] = [];
  for (const entry of entries) {
    const { environmentId, id, name, version, labels, transport, registeredAt } = entry.registration;
    if (!mayConnect(environmentId)) continue;
    if (listed.length >= MAX_LISTED) break;
    const since = entry.since ?? entry.place?.since;
    listed.push({
      environment_id: environmentId,
      executor_registration_id: id,
      name,
      version,
      labels,
      transport,
      connected: isConnected(entry),
      harnesses: loadOf(entry),
      registered_at: toIso(registeredAt),
      connected_since: since === undefined ? null : toIso(since),
      ...(entry.place === undefined ? {} : { node: entry.place.nodeId }),
    });
  }
  return listed;
}

const toIso = (ms: number): string => new Date(ms).toISOString();
