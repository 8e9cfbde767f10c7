import { readFileSync } from "node:fs";
import { PID_ROUND_CHECK_MS, PID_ROUND_REFRESH_MS } from "../limits.js";

/** The first process of a family: the pids of all others were assigned after its own. */
export interface FirstProcess {
  pid: number;
  /** `PidSequence.started` before it was started. */
  started: number | undefined;
}

/** Sources of a `PidSequence`; each has a real default. */
export interface PidSequenceOptions {
  /** Content of a file in /proc. @throws where it cannot be read */
  readProc?: (name: string) => string;
  /** Milliseconds. */
  now?: () => number;
}

/**
 * The kernel assigns pids in ascending order, and starts over after the highest. So the processes started since a moment are
 * found by their pids, however many others there are, until pids may have started over. Linux.
 */
export class PidSequence {
  readonly #readProc: (name: string) => string;
  readonly #now: () => number;
  #started: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Pids that are assigned before one of them can be assigned again. */
  #round = 0;

  constructor({
    readProc = (name) => readFileSync(`/proc/${name}`, "utf8"),
    now = () => performance.now(),
  }: PidSequenceOptions = {}) {
    this.#readProc = readProc;
    this.#now = now;
  }

  /** Processes and threads that were started on this host until the last reading. Undefined where it is not known. */
  get started(): number | undefined {
    this.#refresh(PID_ROUND_REFRESH_MS);
    return this.#started;
  }

  /** The process that is started next, by anyone. */
  getNext(): FirstProcess | undefined {
    const { started } = this;
    const last = this.readLast();
    return last === undefined ? undefined : { pid: last + 1, started };
  }

  /** The pid that was assigned last. */
  readLast(): number | undefined {
    return toCount(this.#read("loadavg")?.trim().split(" ").at(-1));
  }

  /** The pid that was assigned last, if none was assigned twice since `first` was started. */
  readLastSince(first: FirstProcess): number | undefined {
    // As many as fit into a round are not started in that time.
    this.#refresh(PID_ROUND_CHECK_MS);
    if (first.started === undefined || this.#started === undefined) return undefined;
    if (this.#started - first.started >= this.#round) return undefined;
    const last = this.readLast();
    return last === undefined || last < first.pid ? undefined : last;
  }

  #refresh(maxAgeMs: number): void {
    const now = this.#now();
    if (now - this.#readAt <= maxAgeMs) return;
    this.#readAt = now;
    this.#started = toCount(/^processes (\d+)$/m.exec(this.#read("stat") ?? "")?.[1]);
    // Half of them: pids in use are skipped, and so are those of processes that failed to start.
    this.#round = (toCount(this.#read("sys/kernel/pid_max")?.trim()) ?? 0) / 2;
  }

  #read(name: string): string | undefined {
    try {
      return this.#readProc(name);
    } catch {
      return undefined;
    }
  }
}

function toCount(text: string | undefined): number | undefined {
  const count = Number(text);
  return Number.isInteger(count) && count > 0 ? count : undefined;
}
