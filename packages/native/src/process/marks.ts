import { randomInt } from "node:crypto";

/**
 * Creates marks. A mark is a number that a process and all its descendants carry, even after changing their group, session,
 * parent, environment or name. See docs/decisions/ending.md.
 */
export interface Marks {
  /** The leading decimal digits of all marks of this owner, and of no other. */
  readonly prefix: string;
  /** A new mark. */
  next(): bigint;
  /** Whether a mark belongs to this owner. */
  isOwn(mark: bigint | undefined): boolean;
  /** Whether an owner is another one of this process, such as one for another connection, which ends its own processes. */
  isNeighbour(owner: bigint): boolean;
  /** Releases the owner, when no process carries a mark of it any more. */
  release(): void;
}

/** Gives marks to processes and reads them. Linux. */
export interface NativeMarks {
  /** Calls `start`; processes that it starts synchronously carry the mark. */
  give<T>(mark: bigint, start: () => T): T;
  /** Undefined for a process without a mark, and for one that does not exist or may not be inspected. */
  get(pid: number): bigint | undefined;
}

/** A mark has 19 digits: 10 for its owner, chosen at random, and 9 for a count. */
const COUNT = 1_000_000_000n;
const MIN_OWNER = 1_000_000_000;
const MAX_OWNER = 9_000_000_000;

/** Owners of this process, for all of its backends. */
const owners = new Set<bigint>();

/** @param random returns an integer from `min` to `max`, exclusive */
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

/** The owner of a mark; undefined for a number that is not a mark. */
export function getOwner(mark: bigint | undefined): bigint | undefined {
  const owner = (mark ?? 0n) / COUNT;
  return owner >= MIN_OWNER && owner < MAX_OWNER ? owner : undefined;
}
