import type { Marks } from "@codex/native";

/** The living processes that one start, or several, brought about. */
export interface Family {
  /** Those of the group. */
  members: Relative[];
  /** Those that left the group, such as daemons. */
  strays: Relative[];
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
  mark: bigint | undefined;
}

/**
 * The group, everything marked, and all of their descendants; what has ended and was not collected yet is left out. What
 * was found once is found again as long as it lives, also when nothing but a parent that is gone told of it. Without marks a
 * process that left its group is found only while its parents live.
 */
export interface FamilyWatch {
  /** Undefined where the host cannot list processes. */
  list(): Promise<Family | undefined>;
  /**
   * Kills what was started last, as long as more of it turns up, for some milliseconds: a process that starts the next one and ends is gone
   * when a list is complete. Only where there are marks. Synchronous.
   */
  killNewest?(): void;
}
