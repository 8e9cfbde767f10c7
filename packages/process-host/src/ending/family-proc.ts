import { readdirSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import type { SentSignal } from "@codex/exec-backend";
import { hasEnded, type Native, type ProcessStat, readProcessStat } from "@codex/native";
import {
  KILL_NEWEST_MISSES,
  KILL_NEWEST_MS,
  KILL_NEWEST_PIDS,
  MAX_LATER_PIDS,
  MAX_LATER_SCANS,
  MAX_MISSED,
  MAX_RECENT_PIDS,
  MAX_SCANNED_THREADS,
  MIN_NEWEST_ENDED,
  SCAN_SLICE_MS,
} from "../limits.js";
import { isOwnProc, readPlace } from "../proc/namespaces.js";
import type { Family, FamilyQuery, FamilyWatch } from "./family.js";
import { Membership } from "./membership.js";
import { signalProcess } from "./process-group.js";

/** Linux. Nothing else runs between inspecting a process and signalling it. @param now milliseconds */
export function watchByProc(query: FamilyQuery, native: Native, now = () => performance.now()): FamilyWatch {
  // Pids of another namespace would be those of unrelated processes.
  const self = isOwnProc() ? readPlace("self") : undefined;
  if (self === undefined) return { list: async () => undefined, signal: () => false };
  return new Search(query, new Membership(query, native, self), now);
}

class Search implements FamilyWatch {
  readonly #query: FamilyQuery;
  readonly #membership: Membership;
  readonly #now: () => number;
  /** Processes that were found, with their start times: the pid of one that is gone may have been reused. */
  readonly #found = new Map<number, string>();
  /** How many times a process of the family had ended before it could be inspected. */
  #missed = 0;
  /** Pids of processes that have ended or been killed, until pids start over. */
  readonly #ended = new Set<number>();
  readonly #killed = new Set<number>();
  #last = 0;
  #foundStrays = false;
  #sliceEnd: number;

  constructor(query: FamilyQuery, membership: Membership, now: () => number) {
    this.#query = query;
    this.#membership = membership;
    this.#now = now;
    this.#sliceEnd = now() + SCAN_SLICE_MS;
  }

  /** Scans the processes started since the first one where they are known and few, else all of this host. */
  async list(): Promise<Family | undefined> {
    if (this.#isSliceOver) await this.#beginSlice();
    const { first, pids } = this.#query;
    const last = first && pids.readLastSince(first);
    if (last !== undefined && last - first!.pid <= MAX_RECENT_PIDS) {
      const recent = await this.#scanLater(first!.pid - 1);
      // Processes that start very many others may make pids start over sooner than expected.
      const isFinal = !this.#foundStrays && this.#missed === 0;
      if (recent !== undefined && (isFinal || !isEmpty(recent) || !recent.complete)) return recent;
    }
    return this.#scanAll();
  }

  signal(pid: number, signal: SentSignal): boolean {
    const started = this.#found.get(pid);
    if (started !== undefined && readStat(pid)?.startTime === started) return signalProcess(pid, signal);
    this.#missed += 1;
    return false;
  }

  killNewest(): void {
    if (this.#missed === 0 && !this.#areNewestEnding()) return;
    const deadline = this.#now() + KILL_NEWEST_MS;
    // As many checks as must find none are made in any case: the time may pass while other programs run.
    for (let misses = 0, checks = 0; misses < KILL_NEWEST_MISSES; misses += 1, checks += 1) {
      if (checks >= KILL_NEWEST_MISSES && this.#now() >= deadline) return;
      const last = this.#readLast();
      if (last === undefined) return;
      for (let pid = last; pid > Math.max(0, last - KILL_NEWEST_PIDS); pid -= 1) {
        if (this.#killed.has(pid) || pid === process.pid || this.#test(pid, undefined) !== true) continue;
        this.#killed.add(pid);
        if (signalProcess(pid, "SIGKILL")) misses = 0;
      }
    }
  }

  /** Whether of the newest processes many are of the family and have ended. A list would be too slow for the next ones. */
  #areNewestEnding(): boolean {
    const last = this.#readLast();
    const { first } = this.#query;
    if (last === undefined || first === undefined || last - first.pid < KILL_NEWEST_PIDS) return false;
    for (let pid = last; pid > last - KILL_NEWEST_PIDS; pid -= 1) this.#test(pid, undefined);
    return this.#missed >= MIN_NEWEST_ENDED;
  }

  async #scanAll(): Promise<Family | undefined> {
    const last = this.#readLast();
    const names = await readdir("/proc").catch(() => undefined);
    if (names === undefined) return undefined;
    // The newest first: they end soonest.
    const family = await this.#scan(names.map(Number).filter(Number.isInteger).reverse());
    if (!isEmpty(family) || !family.complete || last === undefined) return family;
    // A pid is assigned shortly before its process can be seen.
    return (await this.#scanLater(Math.max(0, last - KILL_NEWEST_PIDS))) ?? { ...family, complete: false };
  }

  /**
   * A listed process that has ended since may have left a child that started after the list was made. So the processes
   * started since are scanned, until there are none. Undefined where they are too many, where pids have started over, and
   * where processes of the family come and go meanwhile.
   */
  async #scanLater(from: number): Promise<Family | undefined> {
    let last = from;
    for (let round = 0; round < MAX_LATER_SCANS; round += 1) {
      const missed = this.#missed;
      const now = this.#readLast();
      if (now === undefined || now < last || now - last > MAX_LATER_PIDS) return undefined;
      const first = last + 1;
      const family = await this.#scan(Array.from({ length: now - last }, (_, index) => first + index));
      if (now === last || !isEmpty(family) || !family.complete) return family;
      if (round > 0 && this.#missed > missed) return undefined;
      last = now;
    }
    return undefined;
  }

  async #scan(pids: readonly number[]): Promise<Family> {
    const pgid = this.#query.getGroup();
    const most = this.#missed + MAX_MISSED;
    const family: Family = { members: [], strays: [], complete: true };
    const seen = new Set([process.pid]);
    const visit = async (first: readonly number[]) => {
      const pending = [...first];
      for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
        if (seen.has(pid)) continue;
        seen.add(pid);
        const stat = readProcessStat(pid);
        if (stat === undefined || hasEnded(stat)) {
          // What this process started itself has no successor of that kind: it is known.
          if (stat?.ppid !== process.pid) this.#missed += 1;
          continue;
        }
        this.#found.set(pid, stat.startTime);
        this.#membership.note(pid);
        const relative = { pid, name: stat.name, stopped: stat.state === "T" };
        (stat.pgrp === pgid ? family.members : family.strays).push(relative);
        pending.push(...readChildren(pid));
        if (this.#isSliceOver) await this.#beginSlice();
      }
    };
    const former = [...this.#found].filter(([pid, started]) => readStat(pid)?.startTime === started);
    this.#found.clear();
    await visit(former.map(([pid]) => pid));
    for (let inner = -1; inner < this.#membership.innerCount; ) {
      inner = this.#membership.innerCount;
      for (const pid of pids) {
        if (!seen.has(pid) && this.#test(pid, pgid)) await visit([pid]);
        if (this.#isSliceOver) await this.#beginSlice();
        if (this.#missed >= most) return { ...family, complete: false };
      }
    }
    this.#foundStrays ||= family.strays.length > 0;
    return family;
  }

  #test(pid: number, pgid: number | undefined): boolean {
    if (this.#ended.has(pid)) return false;
    const belongs = this.#membership.test(pid, pgid);
    if (belongs !== "ended") return belongs;
    this.#missed += 1;
    this.#ended.add(pid);
    return false;
  }

  #readLast(): number | undefined {
    const last = this.#query.pids.readLast();
    if (last !== undefined && last < this.#last) {
      this.#ended.clear();
      this.#killed.clear();
    }
    this.#last = last ?? this.#last;
    return last;
  }

  get #isSliceOver(): boolean {
    return this.#now() >= this.#sliceEnd;
  }

  /** Lets this process do other work first. */
  async #beginSlice(): Promise<void> {
    await setImmediate();
    this.#sliceEnd = this.#now() + SCAN_SLICE_MS;
  }
}

const isEmpty = ({ members, strays }: Family): boolean => members.length + strays.length === 0;

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
