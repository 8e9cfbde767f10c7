/** A stream of pseudo-random decisions determined by a seed. `fork` creates one that is independent of other decisions. */
export interface Random {
  /** 0 to below 1. */
  next(): number;
  /** Integer of `[from, to]`. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  fork(label: string): Random;
}

/** The same decisions for the same seed, on every machine (mulberry32). */
export function createRandom(seed: number, label = ""): Random {
  let state = hash(`${seed}/${label}`);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[between(0, choices.length - 1)]!,
    fork: (name) => createRandom(seed, `${label}/${name}`),
  };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
