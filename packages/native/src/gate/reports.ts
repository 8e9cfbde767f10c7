import type { ProgramReport } from "@codex/exec-gate";
import { MAX_REPORTED_CHARACTERS, MAX_REPORTED_PROGRAMS } from "../limits.js";
import type { FromSupervisor } from "./messages.js";

type Sent = Extract<FromSupervisor, { type: "reports" }>;

/** What is reported of one command. */
interface CommandReports {
  reports: ProgramReport[];
  /** The thread of the last one. */
  tid: number;
  /** The first that was not sent as it is. */
  unsent: number;
  omitted: number;
}

/** Collects reports by command, and passes them on some at a time. */
export class Reports {
  readonly #send: (message: Sent) => void;
  readonly #byMark = new Map<bigint, CommandReports>();
  readonly #dirty = new Set<bigint>();

  constructor(send: (message: Sent) => void) {
    this.#send = send;
  }

  get isPending(): boolean {
    return this.#dirty.size > 0;
  }

  /** A shell that was refused a program goes on with the next directory of PATH: that is reported once. Returns what is reported; undefined where it only counts. */
  add(mark: bigint, tid: number, report: Omit<ProgramReport, "times">): ProgramReport | undefined {
    const own = this.#byMark.get(mark) ?? { reports: [], tid, unsent: 0, omitted: 0 };
    this.#byMark.set(mark, own);
    this.#dirty.add(mark);
    const last = own.reports.at(-1);
    const next = { ...report, argv: cutWords(report.argv) };
    let added = last;
    if (last !== undefined && own.tid === tid && isSame(last, next)) {
      last.times += 1;
      own.unsent = Math.min(own.unsent, own.reports.length - 1);
    } else if (own.reports.length < MAX_REPORTED_PROGRAMS) {
      added = { ...next, times: 1 };
      own.reports.push(added);
    } else {
      added = undefined;
      own.omitted += 1;
    }
    own.tid = tid;
    return added;
  }

  /** What was added has changed. */
  touch(mark: bigint, report: ProgramReport): void {
    const own = this.#byMark.get(mark);
    const index = own?.reports.indexOf(report) ?? -1;
    if (own === undefined || index < 0) return;
    own.unsent = Math.min(own.unsent, index);
    this.#dirty.add(mark);
  }

  flush(): void {
    for (const mark of this.#dirty) {
      const own = this.#byMark.get(mark)!;
      const { reports, unsent: first, omitted } = own;
      this.#send({ type: "reports", mark, first, reports: reports.slice(first), omitted });
      own.unsent = reports.length;
    }
    this.#dirty.clear();
  }

  /** After what was reported was passed on. */
  forget(mark: bigint): void {
    this.flush();
    this.#byMark.delete(mark);
  }
}

/** Which rule decided, and as which file it was found, does not matter to who reads it. */
function isSame(one: ProgramReport, other: Omit<ProgramReport, "times">): boolean {
  return (
    one.decision === other.decision &&
    one.decision !== "outside" &&
    one.reason === other.reason &&
    one.argv.length === other.argv.length &&
    one.argv.every((word, index) => word === other.argv[index])
  );
}

/** As many as are shown of a program. */
export function cutWords(words: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MAX_REPORTED_CHARACTERS;
  for (const word of words) {
    if (left <= 0) break;
    kept.push(word.slice(0, left));
    left -= word.length + 1;
  }
  return kept;
}
