import { lookup as lookupOfNode } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { type Clock, withDeadline } from "@codex/clock";
import { type Address, parseAddress } from "@codex/network-policy";
import { evictOldest } from "@codex/values";
import { MAX_NAMES, MAX_RESOLVE_MS, RESOLVED_FOR_MS } from "./limits.js";

/** Resolves a name to its addresses, in the order in which they should be tried. @throws if it has none */
export type Lookup = (name: string) => Promise<readonly Address[]>;

/** The names of this host's own file, and then its name server. */
export const lookupOnHost: Lookup = async (name) => {
  const own = findInHosts(await readFile(HOSTS_FILE, "utf8").catch(() => ""), name);
  if (own.length > 0) return own;
  // A final dot: the search list of this host is not tried. Its file has no names with one, and would not be found.
  const found = await lookupOfNode(name.includes(".") ? `${name}.` : name, { all: true });
  return found.map(({ address }) => parseAddress(address)).filter((address) => address !== undefined);
};

const HOSTS_FILE = "/etc/hosts";

/** The addresses of a name in the text of a hosts file. */
export function findInHosts(text: string, name: string): readonly Address[] {
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const parsed = names.some((each) => each.toLowerCase() === name) ? parseAddress(address) : undefined;
    return parsed === undefined ? [] : [parsed];
  });
}

/** One lookup at a time for each name, whose addresses are used again for a while. */
export class Resolver {
  readonly #lookup: Lookup;
  readonly #clock: Clock;
  readonly #known = new Map<string, { addresses: Promise<readonly Address[]>; until: number }>();

  constructor(lookup: Lookup, clock: Clock) {
    this.#lookup = lookup;
    this.#clock = clock;
  }

  /** Empty if the name does not resolve within the limit. */
  resolve(name: string): Promise<readonly Address[]> {
    const known = this.#known.get(name);
    if (known !== undefined && known.until > this.#clock.now()) return known.addresses;
    this.#known.delete(name);
    const addresses = this.#ask(name);
    const entry = { addresses, until: Number.POSITIVE_INFINITY };
    this.#known.set(name, entry);
    void addresses.then(({ length }) => {
      entry.until = this.#clock.now() + (length > 0 ? RESOLVED_FOR_MS : 0);
    });
    this.#forgetOld();
    return addresses;
  }

  async #ask(name: string): Promise<readonly Address[]> {
    const createError = () => new Error(`${name} did not resolve within ${MAX_RESOLVE_MS} ms`);
    try {
      return await withDeadline({ clock: this.#clock, ms: MAX_RESOLVE_MS, createError }, () => this.#lookup(name));
    } catch {
      return [];
    }
  }

  /** Lookups under way are kept: they are bounded by the connections that wait for them. */
  #forgetOld(): void {
    evictOldest(this.#known, MAX_NAMES, (_name, { until }) => until === Number.POSITIVE_INFINITY);
  }
}
