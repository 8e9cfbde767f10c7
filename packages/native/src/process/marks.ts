import { randomInt } from "node:crypto";

/**
 * A mark is a number that a process is started with and that everything it starts has too, whatever it does to its group,
 * session, parent, environment or name. See docs/decisions/ending.md.
 */
export interface Marks {
  /** What the decimal digits of all marks of this owner begin with, and of nobody else's. */
  readonly prefix: string;
  /** A mark that was not given before. */
  next(): bigint;
  /** Whether a mark is of this owner. */
  isOwn(mark: bigint | undefined): boolean;
  /** Whether an owner is one of this process: another connection's, whose processes are none of this one's business. */
  isNeighbour(owner: bigint): boolean;
  /** Nothing has a mark of this owner any more. */
  release(): void;
}

/** How marks are given to processes and read from them; the host must be Linux. */
export interface NativeMarks {
  /** What `start` starts before it returns has the mark. */
  give<T>(mark: bigint, start: () => T): T;
  /** Undefined for a process without one, and for one that is gone or may not be looked at. */
  get(pid: number): bigint | undefined;
}

/** A mark has 19 digits: 10 of its owner, chosen at random, and a count of 9. */
const COUNT = 1_000_000_000n;
const MIN_OWNER = 1_000_000_000;
const MAX_OWNER = 9_000_000_000;

/** Owners of this process, for all of its backends. */
const owners = new Set<bigint>();

/** @param random an integer from `min` up to but without `max` */
export function createMarks(random: (min: number, max: number) => number = randomInt): Marks {
  const owner = BigInt(random(MIN_OWNER, MAX_OWNER));
  owners.add(owner);
  let given = 0n;
  return {
    prefix: String(owner),
    next: () => owner * COUNT + (given++ % COUNT),
    isOwn: (mark) => mark !== undefined && mark / COUNT === owner,
    isNeighbour: (other) => other !== owner && owners.has(other),
    release: () => owners.delete(owner),
  };
}

/** Who gave a mark: two marks of one owner have the same. Undefined for a number that is no mark. */
export function getOwner(mark: bigint | undefined): bigint | undefined {
  const owner = (mark ?? 0n) / COUNT;
  return owner >= MIN_OWNER && owner < MAX_OWNER ? owner : undefined;
}
