import type { NetworkDenial } from "@codex/executor-protocol";
import type { NetworkState } from "./exec-backend.js";
import { MAX_NETWORK_DENIALS } from "./limits.js";

/** The connections that one process was not let to have, equal ones counted. */
export class NetworkDenials {
  readonly #denied = new Map<string, NetworkDenial>();
  #omitted = 0;

  get state(): NetworkState {
    return { denied: [...this.#denied.values()], omitted: this.#omitted };
  }

  add(denial: NetworkDenial): void {
    const { host, port, protocol, reason, count } = denial;
    const key = JSON.stringify([host, port, protocol, reason]);
    const earlier = this.#denied.get(key);
    if (earlier === undefined && this.#denied.size >= MAX_NETWORK_DENIALS) this.#omitted += count;
    else this.#denied.set(key, { ...denial, count: count + (earlier?.count ?? 0) });
  }
}
