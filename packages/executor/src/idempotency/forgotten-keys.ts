import { createHash } from "node:crypto";

export interface ForgottenKeysLimits {
  forgottenKeys: number;
  keySeries: number;
}

/** State of a key whose call is no longer retained. `unknowable`: the memory is full, so the key may have been used. */
export type KeyMemory = "new" | "used" | "unknowable";

/**
 * Remembers in little memory that keys were used whose calls are no longer retained. Keys `SERIES#NUMBER` count up within a
 * series of their scope, of which only the largest number is retained; of any other key, a digest.
 */
export class ForgottenKeys {
  readonly #limits: ForgottenKeysLimits;
  /** The largest forgotten number of each series, by scope. */
  readonly #series = new Map<string, Map<string, number>>();
  #seriesCount = 0;
  readonly #digests = new Set<string>();

  constructor(limits: ForgottenKeysLimits) {
    this.#limits = limits;
  }

  add(scope: string, key: string): void {
    const numbered = parseNumbered(key);
    if (numbered !== undefined && this.#addNumber(scope, numbered)) return;
    if (this.#digests.size < this.#limits.forgottenKeys) this.#digests.add(digest(scope, key));
  }

  get(scope: string, key: string): KeyMemory {
    const numbered = parseNumbered(key);
    const last = numbered === undefined ? undefined : this.#series.get(scope)?.get(numbered.series);
    if (numbered !== undefined && last !== undefined && numbered.number <= last) return "used";
    // Of a series that had no place at first there are digests as well.
    if (this.#digests.size === 0) return "new";
    if (this.#digests.has(digest(scope, key))) return "used";
    if (last !== undefined || (numbered !== undefined && this.#seriesCount < this.#limits.keySeries)) return "new";
    return this.#digests.size >= this.#limits.forgottenKeys ? "unknowable" : "new";
  }

  /** Frees the series of a scope in which no call can be made any more. */
  endScope(scope: string): void {
    this.#seriesCount -= this.#series.get(scope)?.size ?? 0;
    this.#series.delete(scope);
  }

  /** False if there is no place for its series. */
  #addNumber(scope: string, { series, number }: Numbered): boolean {
    const known = this.#series.get(scope);
    const last = known?.get(series);
    if (last === undefined && this.#seriesCount >= this.#limits.keySeries) return false;
    if (last === undefined) this.#seriesCount += 1;
    if (known === undefined) this.#series.set(scope, new Map([[series, number]]));
    else known.set(series, Math.max(last ?? 0, number));
    return true;
  }
}

interface Numbered {
  series: string;
  number: number;
}

function parseNumbered(key: string): Numbered | undefined {
  const match = /^(.+)#(\d{1,15})$/s.exec(key);
  return match === null ? undefined : { series: match[1]!, number: Number(match[2]) };
}

/** 96 bits: a collision among a million keys has a probability of about 10^-17. */
const digest = (scope: string, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([scope, key]))
    .digest("base64")
    .slice(0, 16);
