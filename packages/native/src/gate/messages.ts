import type { ProgramQuestion, ProgramReport, ProgramVerdict, QuestionLimits } from "@codex/exec-gate";
import type { ChildStart } from "../process/spawn.js";

/** What a thread of a gate is started with. */
export type ThreadData = StarterData | SupervisorData;

interface SharedData {
  /** Where the code of this package is, for its native code. */
  base: string;
  /** Of the spawn lock. */
  lock: SharedArrayBuffer;
  /** The mark of the program that the starter is starting; 0 for none. */
  starting: SharedArrayBuffer;
}

export interface StarterData extends SharedData {
  role: "starter";
}

export interface SupervisorData extends SharedData {
  role: "supervisor";
  /** The end of a pipe for reading, with a byte for new messages. */
  wake: number;
  /** 1 while that byte is on its way. */
  waking: SharedArrayBuffer;
}

export type ToStarter =
  | { type: "spawn"; id: number; mark: bigint; start: Omit<ChildStart, "onExit"> }
  | { type: "close" };

export type FromStarter =
  /** The filter is installed. `waitsKillable`: its callers are not interrupted by signals. */
  | { type: "listening"; fd: number; waitsKillable: boolean }
  | { type: "failed"; missing: string; reason: string }
  | { type: "spawned"; id: number; pid: number }
  | { type: "not_spawned"; id: number; message: string; code: string | undefined };

export type ToSupervisor =
  | { type: "listen"; fd: number }
  /** Whether callers can be traced. */
  | { type: "tracing"; canTrace: boolean }
  | ({ type: "command" } & CommandStart)
  /** A process that the starter has started: the supervisor waits for it. */
  | { type: "watch"; pid: number }
  /** To a question that was not withdrawn. */
  | { type: "answer"; id: number; verdict: ProgramVerdict }
  /** The processes of a command have ended, or it was not started. */
  | { type: "end"; mark: bigint }
  | { type: "close" };

/** A command that is about to be started. */
interface CommandStart {
  mark: bigint;
  /** `GateRules` as JSON. */
  rules: string;
  file: string;
  argv: readonly string[];
  /** The program is the wrapper of a sandbox with a process namespace of its own. */
  isSandboxed: boolean;
  /** Programs that the sandbox starts before the command's own, its wrapper included: they are not judged. */
  wrappers: number;
  /** Directories in which the command can change nothing. */
  trusted: readonly string[];
  /** Absent: nobody is asked. */
  questions: QuestionLimits | undefined;
}

export type FromSupervisor =
  /** Programs of a command; `first` is the number of the first of them. `omitted`: those that are not reported, so far. */
  | { type: "reports"; mark: bigint; first: number; reports: ProgramReport[]; omitted: number }
  /** A program of a command waits for the answer. */
  | { type: "question"; mark: bigint; id: number; question: ProgramQuestion }
  /** Nobody waits for its answer any more. */
  | { type: "withdrawn"; mark: bigint; id: number }
  /** As of waitpid(2). */
  | { type: "exited"; pid: number; status: number }
  | { type: "closed"; judged: number; verified: number };
