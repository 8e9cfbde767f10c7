import { createHash } from "node:crypto";

export interface ForgottenKeysLimits {
  forgottenKeys: number;
  keySeries: number;
}

/** State of a key whose call is no longer retained. `unknowable`: the memory is full, so the key may have been used. */
export type KeyMemory = "new" | "used" | "unknowable";

/**
 * Remembers in little memory that keys were used whose calls are no longer retained. Keys `SERIES#NUMBER` count up within a
 * series, of which only the largest number is retained; of any other key, a digest.
 */
export class ForgottenKeys {
  readonly #limits: ForgottenKeysLimits;
  /** The largest forgotten number of each series. */
  readonly #series = new Map<string, number>();
  readonly #digests = new Set<string>();

  constructor(limits: ForgottenKeysLimits) {
    this.#limits = limits;
  }

  add(scope: string, key: string): void {
    const numbered = parseNumbered(key);
    if (numbered !== undefined && this.#hasSeries(numbered.series)) {
      const last = this.#series.get(numbered.series) ?? 0;
      this.#series.set(numbered.series, Math.max(last, numbered.number));
    } else if (this.#digests.size < this.#limits.forgottenKeys) {
      this.#digests.add(digest(scope, key));
    }
  }

  get(scope: string, key: string): KeyMemory {
    const numbered = parseNumbered(key);
    const last = numbered === undefined ? undefined : this.#series.get(numbered.series);
    if (numbered !== undefined && last !== undefined) return numbered.number <= last ? "used" : "new";
    if (numbered !== undefined && this.#series.size < this.#limits.keySeries) return "new";
    if (this.#digests.size === 0) return "new";
    if (this.#digests.has(digest(scope, key))) return "used";
    return this.#digests.size >= this.#limits.forgottenKeys ? "unknowable" : "new";
  }

  /** Whether the series is known, or can be added. */
  #hasSeries(series: string): boolean {
    return this.#series.has(series) || this.#series.size < this.#limits.keySeries;
  }
}

function parseNumbered(key: string): { series: string; number: number } | undefined {
  const match = /^(.+)#(\d{1,15})$/s.exec(key);
  return match === null ? undefined : { series: match[1]!, number: Number(match[2]) };
}

/** 96 bits: a collision among a million keys has a probability of about 10^-17. */
const digest = (scope: string, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([scope, key]))
    .digest("base64")
    .slice(0, 16);
