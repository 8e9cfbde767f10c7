import { readdirSync, readFileSync } from "node:fs";
import { getOwner, hasEnded, type Native, type ProcessStat, readProcessStat } from "@codex/native";
import {
  KILL_NEWEST_MISSES,
  KILL_NEWEST_MS,
  KILL_NEWEST_PIDS,
  MAX_ANCESTORS,
  MAX_EMPTY_SCANS,
  MAX_LATER_PIDS,
  MAX_LATER_SCANS,
  MAX_SCANNED_THREADS,
} from "../limits.js";
import { isOwnProc, type Place, readPlace } from "../proc/namespaces.js";
import type { Family, FamilyQuery, FamilyWatch } from "./family.js";
import { signalProcess } from "./process-group.js";

/** Linux. Synchronous inside: nothing else must run between inspecting a process and signalling it. */
export function watchByProc(query: FamilyQuery, native: Native): FamilyWatch {
  const search = new Search(query, native);
  return { list: async () => search.list(), killNewest: () => search.killNewest() };
}

class Search {
  readonly #query: FamilyQuery;
  readonly #native: Native;
  /** Processes that were found, with their start times: the pid of one that is gone may have been reused. */
  readonly #found = new Map<number, string>();
  /** Owners of other marks in the family, and the users they run as: a nested executor marks what it starts itself. */
  readonly #inner = new Map<bigint, Set<number>>();
  /** Owner of the mark of this process, when it runs in a session of another executor. */
  readonly #outer: bigint | undefined;
  readonly #self: Place | undefined;
  /** Some process of the family was gone before it could be inspected. */
  #missedSome = false;

  constructor(query: FamilyQuery, native: Native) {
    this.#query = query;
    this.#native = native;
    this.#outer = getOwner(native.marks?.get(process.pid));
    this.#self = isOwnProc() ? readPlace("self") : undefined;
  }

  list(): Family | undefined {
    // Pids of another namespace would be those of unrelated processes.
    if (this.#self === undefined) return undefined;
    for (let round = 1; ; round += 1) {
      const last = readLastPid();
      const pids = attempt(() => readdirSync("/proc").map(Number).filter(Number.isInteger));
      if (pids === undefined) return undefined;
      const family = this.#scan(pids);
      if (!isEmpty(family) || round === MAX_EMPTY_SCANS || last === undefined) return family;
      const later = this.#scanLater(last);
      if (later !== undefined) return later;
    }
  }

  /**
   * A listed process that has ended since may have left a child that started after the list was made. So the processes
   * started since are scanned, until there are none. Undefined where they are too many, or pids have wrapped around.
   */
  #scanLater(from: number): Family | undefined {
    let last = from;
    for (let round = 0; round < MAX_LATER_SCANS; round += 1) {
      const now = readLastPid();
      if (now === undefined || now < last || now - last > MAX_LATER_PIDS) return undefined;
      const first = last + 1;
      const family = this.#scan(Array.from({ length: now - last }, (_, index) => first + index));
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

  #scan(pids: readonly number[]): Family {
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
   * A program may give itself any mark. In a namespace of its own, such as that of a sandbox, this must not assign it to
   * another owner: there the mark of the process that holds the namespace counts, as long as that process lives.
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
    // A mark of its own must not get processes ended that it could not end itself.
    if (place?.depth !== this.#self!.depth) return;
    const users = this.#inner.get(owner) ?? new Set();
    this.#inner.set(owner, users.add(place.uid));
  }
}

const ROOT = 0;
const NOBODY_KNOWN = -1;

const isEmpty = ({ members, strays }: Family): boolean => members.length + strays.length === 0;

/** The pid that was assigned last. */
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
  return threads.slice(0, MAX_SCANNED_THREADS).flatMap((thread) => {
    const children = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1")) ?? "";
    return children.split(" ").filter(Boolean).map(Number);
  });
}

/** Undefined when the process is gone by then. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
