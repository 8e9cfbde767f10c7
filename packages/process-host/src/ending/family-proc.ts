import { readdirSync, readFileSync } from "node:fs";
import { getOwner, hasEnded, type Native, type ProcessStat, readProcessStat } from "@codex/native";
import {
  KILL_NEWEST_MISSES,
  KILL_NEWEST_MS,
  KILL_NEWEST_PIDS,
  MAX_ANCESTORS,
  MAX_EMPTY_LOOKS,
  MAX_LATER_LOOKS,
  MAX_LATER_PIDS,
  MAX_THREADS_LOOKED_AT,
} from "../limits.js";
import { isOwnProc, type Place, readPlace } from "../proc/namespaces.js";
import type { Family, FamilyQuery, FamilyWatch } from "./family.js";
import { signalProcess } from "./process-group.js";

/** Linux. Synchronous within: between the look at a process and a signal to it, nothing else should run. */
export function watchByProc(query: FamilyQuery, native: Native): FamilyWatch {
  const search = new Search(query, native);
  return { list: async () => search.list(), killNewest: () => search.killNewest() };
}

class Search {
  readonly #query: FamilyQuery;
  readonly #native: Native;
  /** When those that were found were started: the number of one that is gone may be another's by now. */
  readonly #found = new Map<number, string>();
  /** Owners of other marks in the family, and the users who have them: an executor inside of it marks what it starts itself. */
  readonly #inner = new Map<bigint, Set<number>>();
  /** Owner of the mark of this process, when it runs inside of another's session. */
  readonly #outer: bigint | undefined;
  readonly #self: Place | undefined;
  /** Something of the family was gone before it could be looked at. */
  #missedSome = false;

  constructor(query: FamilyQuery, native: Native) {
    this.#query = query;
    this.#native = native;
    this.#outer = getOwner(native.marks?.get(process.pid));
    this.#self = isOwnProc() ? readPlace("self") : undefined;
  }

  list(): Family | undefined {
    // Numbers of another namespace would be those of strangers.
    if (this.#self === undefined) return undefined;
    for (let round = 1; ; round += 1) {
      const last = readLastPid();
      const pids = attempt(() => readdirSync("/proc").map(Number).filter(Number.isInteger));
      if (pids === undefined) return undefined;
      const family = this.#look(pids);
      if (!isEmpty(family) || round === MAX_EMPTY_LOOKS || last === undefined) return family;
      const later = this.#lookAtLater(last);
      if (later !== undefined) return later;
    }
  }

  /**
   * What was listed and has ended since may have been of the family, with a child that came after the list was made: those
   * that came since are looked at, until there are none. Undefined where they are too many, or their numbers began anew.
   */
  #lookAtLater(from: number): Family | undefined {
    let last = from;
    for (let round = 0; round < MAX_LATER_LOOKS; round += 1) {
      const now = readLastPid();
      if (now === undefined || now < last || now - last > MAX_LATER_PIDS) return undefined;
      const first = last + 1;
      const family = this.#look(Array.from({ length: now - last }, (_, index) => first + index));
      if (now === last || !isEmpty(family)) return family;
      last = now;
    }
    return undefined;
  }

  killNewest(): void {
    if (!this.#missedSome || this.#self === undefined) return;
    const killed = new Set<number>();
    const deadline = performance.now() + KILL_NEWEST_MS;
    for (let misses = 0; misses < KILL_NEWEST_MISSES && performance.now() < deadline; misses += 1) {
      const last = readLastPid();
      if (last === undefined) return;
      for (let pid = last; pid > Math.max(0, last - KILL_NEWEST_PIDS); pid -= 1) {
        if (killed.has(pid) || pid === process.pid || !this.#isMarked(pid)) continue;
        killed.add(pid);
        if (signalProcess(pid, "SIGKILL")) misses = 0;
      }
    }
  }

  #look(pids: readonly number[]): Family {
    const pgid = this.#query.getGroup();
    const family: Family = { members: [], strays: [] };
    const seen = new Set([process.pid]);
    const visit = (first: readonly number[]) => {
      const pending = [...first];
      for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
        if (seen.has(pid)) continue;
        seen.add(pid);
        const stat = readStat(pid);
        if (stat === undefined) this.#missedSome = true;
        if (stat === undefined) continue;
        this.#note(pid, stat);
        const relative = { pid, name: stat.name, stopped: stat.state === "T" };
        (stat.pgrp === pgid ? family.members : family.strays).push(relative);
        pending.push(...readChildren(pid));
      }
    };
    const former = [...this.#found].filter(([pid, started]) => readStat(pid)?.startTime === started);
    this.#found.clear();
    visit(former.map(([pid]) => pid));
    for (let inner = -1; inner < this.#countInner(); ) {
      inner = this.#countInner();
      visit(pids.filter((pid) => this.#belongs(pid, pgid)));
    }
    return family;
  }

  #belongs(pid: number, pgid: number | undefined): boolean {
    return this.#isMarked(pid) || (pgid !== undefined && this.#native.getGroup(pid) === pgid);
  }

  #isMarked(pid: number): boolean {
    const mark = this.#native.marks?.get(pid);
    return this.#counts(mark, pid) && this.#counts(this.#getTrueMark(pid, mark), pid);
  }

  #counts(mark: bigint | undefined, pid: number): boolean {
    const { marks, mark: wanted } = this.#query;
    if (marks.isOwn(mark)) return wanted === undefined || mark === wanted;
    const users = this.#inner.get(getOwner(mark) ?? 0n);
    return users !== undefined && (users.has(ROOT) || users.has(readPlace(pid)?.uid ?? NOBODY_KNOWN));
  }

  #countInner(): number {
    let count = 0;
    for (const users of this.#inner.values()) count += users.size;
    return count;
  }

  /**
   * A program may take any mark. In a namespace of its own, such as that of a sandbox, that must not make it somebody else's: there the mark
   * of what holds the namespace counts, as long as that is there.
   */
  #getTrueMark(pid: number, mark: bigint | undefined): bigint | undefined {
    let place = readPlace(pid);
    let holder = pid;
    for (let steps = 0; place !== undefined && place.depth > this.#self!.depth; steps += 1) {
      if (steps > MAX_ANCESTORS || place.ppid === 0) return mark;
      holder = place.ppid;
      place = readPlace(holder);
    }
    const held = this.#native.marks?.get(holder);
    const owner = getOwner(held);
    return owner === undefined || owner === this.#outer ? mark : held;
  }

  #note(pid: number, { startTime }: ProcessStat): void {
    this.#found.set(pid, startTime);
    const mark = this.#native.marks?.get(pid);
    const owner = getOwner(mark);
    const { marks } = this.#query;
    if (owner === undefined || owner === this.#outer || marks.isOwn(mark) || marks.isNeighbour(owner)) return;
    const place = readPlace(pid);
    // On its word nothing is ended that it could not end by itself.
    if (place?.depth !== this.#self!.depth) return;
    const users = this.#inner.get(owner) ?? new Set();
    this.#inner.set(owner, users.add(place.uid));
  }
}

const ROOT = 0;
const NOBODY_KNOWN = -1;

const isEmpty = ({ members, strays }: Family): boolean => members.length + strays.length === 0;

/** The number that was given to a process last. */
function readLastPid(): number | undefined {
  const loads = attempt(() => readFileSync("/proc/loadavg", "latin1"));
  const last = Number(loads?.trim().split(" ").at(-1));
  return Number.isInteger(last) && last > 0 ? last : undefined;
}

/** Undefined for a process that is gone, or that has ended and waits for its parent. */
function readStat(pid: number): ProcessStat | undefined {
  const stat = readProcessStat(pid);
  return hasEnded(stat) ? undefined : stat;
}

function readChildren(pid: number): number[] {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  return threads.slice(0, MAX_THREADS_LOOKED_AT).flatMap((thread) => {
    const children = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1")) ?? "";
    return children.split(" ").filter(Boolean).map(Number);
  });
}

/** Processes go while they are looked at. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
