import type { SentSignal } from "@codex/exec-backend";
import type { Marks } from "@codex/native";
import type { FirstProcess, PidSequence } from "../proc/pid-sequence.js";

/** The living processes that descend from one start, or from several. */
export interface Family {
  /** Those of the group. */
  members: Relative[];
  /** Those that left the group, such as daemons. */
  strays: Relative[];
  /** False where others may have started during the scan. */
  complete: boolean;
}

export interface Relative {
  pid: number;
  /** Command name as the kernel has it: at most 15 bytes on Linux. */
  name: string;
  stopped: boolean;
}

export interface FamilyQuery {
  /** The group, as long as it is known to be there. */
  getGroup(): number | undefined;
  marks: Marks;
  /** Undefined: every mark of the owner. */
  wanted: ReadonlySet<bigint> | undefined;
  /** Undefined where it is not known, so that all processes of the host are scanned. */
  first: FirstProcess | undefined;
  pids: PidSequence;
}

/**
 * Lists the group, everything marked, and all of their descendants, zombies left out. A process that was found once is found
 * again as long as it lives, even if only a parent that is gone led to it. Without marks a process that left its group is
 * found only while its ancestors live.
 */
export interface FamilyWatch {
  /** Undefined where the host cannot list processes. */
  list(): Promise<Family | undefined>;
  /** Sends a signal to a process that was listed. False when it is gone or belongs to somebody else. */
  signal(pid: number, signal: SentSignal): boolean;
  /**
   * Kills the newest processes of the family for some milliseconds, as long as more turn up: a process that starts its
   * successor and ends would be gone before a list is complete. Only where there are marks. Synchronous.
   */
  killNewest?(): void;
}
