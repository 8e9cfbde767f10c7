import { getOwner, type Native } from "@codex/native";
import { MAX_ANCESTORS } from "../limits.js";
import { type Place, readPlace } from "../proc/namespaces.js";
import type { FamilyQuery } from "./family.js";

/** Decides which processes belong to a family, by group and mark. Linux. */
export class Membership {
  readonly #query: FamilyQuery;
  readonly #native: Native;
  /** Owners of other marks in the family, and the users they run as: a nested executor marks what it starts itself. */
  readonly #inner = new Map<bigint, Set<number>>();
  /** Owner of the mark of this process, when it runs in a session of another executor. */
  readonly #outer: bigint | undefined;
  readonly #self: Place;

  constructor(query: FamilyQuery, native: Native, self: Place) {
    this.#query = query;
    this.#native = native;
    this.#outer = getOwner(native.marks?.get(process.pid));
    this.#self = self;
  }

  /**
   * Whether a process is of the group or marked. False for the id of a thread; "ended" for a process of the family that has
   * ended, other than a child of this process.
   */
  test(pid: number, pgid: number | undefined): boolean | "ended" {
    const mark = this.#native.marks?.get(pid);
    const inGroup = pgid !== undefined && this.#native.getGroup(pid) === pgid;
    if (!inGroup && mark === undefined) return false;
    const place = readPlace(pid);
    if (place === undefined) return (inGroup || this.#mayCount(mark)) && "ended";
    if (place.tgid !== pid || !(inGroup || this.#isMarked(pid, mark, place))) return false;
    if (!place.ended) return true;
    return place.ppid !== process.pid && "ended";
  }

  /** Adds the owner of the mark of a process of the family, if it is an inner one. */
  note(pid: number): void {
    const mark = this.#native.marks?.get(pid);
    const owner = getOwner(mark);
    const { marks } = this.#query;
    if (owner === undefined || owner === this.#outer || marks.isOwn(mark) || marks.isNeighbour(owner)) return;
    const place = readPlace(pid);
    // A mark of its own must not get processes ended that it could not end itself.
    if (place?.depth !== this.#self.depth) return;
    const users = this.#inner.get(owner) ?? new Set();
    this.#inner.set(owner, users.add(place.uid));
  }

  /** Grows with each inner owner, and with each user of one. */
  get innerCount(): number {
    let count = 0;
    for (const users of this.#inner.values()) count += users.size;
    return count;
  }

  #isMarked(pid: number, mark: bigint | undefined, place: Place): boolean {
    return this.#counts(mark, place) && this.#counts(this.#getTrueMark(pid, mark, place), place);
  }

  #mayCount(mark: bigint | undefined): boolean {
    return this.#query.marks.isOwn(mark) || this.#inner.has(getOwner(mark) ?? 0n);
  }

  #counts(mark: bigint | undefined, { uid }: Place): boolean {
    const { marks, wanted } = this.#query;
    if (mark !== undefined && marks.isOwn(mark)) return wanted?.has(mark) ?? true;
    const users = this.#inner.get(getOwner(mark) ?? 0n);
    return users !== undefined && (users.has(ROOT) || users.has(uid));
  }

  /**
   * A program may give itself any mark. In a namespace of its own, such as that of a sandbox, this must not assign it to
   * another owner: there the mark of the process that holds the namespace counts, as long as that process lives.
   */
  #getTrueMark(pid: number, mark: bigint | undefined, inspected: Place): bigint | undefined {
    let place: Place | undefined = inspected;
    let holder = pid;
    for (let steps = 0; place !== undefined && place.depth > this.#self.depth; steps += 1) {
      if (steps > MAX_ANCESTORS || place.ppid === 0) return mark;
      holder = place.ppid;
      place = readPlace(holder);
    }
    const held = this.#native.marks?.get(holder);
    const owner = getOwner(held);
    return owner === undefined || owner === this.#outer ? mark : held;
  }
}

const ROOT = 0;
