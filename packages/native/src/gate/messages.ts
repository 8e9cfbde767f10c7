import type { OutsideProfile, ProgramQuestion, ProgramReport, ProgramVerdict, QuestionLimits } from "@codex/exec-gate";
import type { ChildStart } from "../process/spawn.js";
import type { CommandReach, JudgedProgram } from "./command-table.js";

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
  /** Whether the programs that it starts are judged. */
  judges: boolean;
}

export interface SupervisorData extends SharedData {
  role: "supervisor";
  /** The end of a pipe for reading, with a byte for new messages. */
  wake: number;
  /** 1 while that byte is on its way. */
  waking: SharedArrayBuffer;
}

export type ToStarter =
  | { type: "spawn"; id: number; mark: bigint; start: Omit<ChildStart, "onExit">; place: StartPlace | undefined }
  | { type: "close" };

/** What a program gets from its caller that otherwise belongs to the process that starts it. */
export interface StartPlace {
  /** A descriptor of its directory. */
  directory: number;
  umask: number;
}

export type FromStarter =
  /** Of a starter whose programs are not judged. */
  | { type: "ready" }
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
  /** A program outside was started; then `watch` has named it. */
  | { type: "outside_started"; id: number; pid: number }
  /** It has ended, or was not started, for this reason. `code`: for its caller; 256 + the number for a death by signal. */
  | { type: "outside_ended"; id: number; code: number; problem: string | undefined }
  /** The processes of a command have ended, or it was not started. */
  | { type: "end"; mark: bigint }
  | { type: "close" };

/** A command that is about to be started. */
interface CommandStart {
  mark: bigint;
  /** `GateRules` as JSON. */
  rules: string;
  file: string;
  /** The program is the wrapper of a sandbox with a process namespace of its own. */
  isSandboxed: boolean;
  /** Programs that the sandbox starts before the command's own, its wrapper included: they are not judged. */
  wrappers: number;
  /** Absent: it can change every program, or runs in no sandbox. */
  reach: CommandReach | undefined;
  /** Absent: its programs cannot leave its sandbox. */
  leaving: { env: Readonly<Record<string, string>> } | undefined;
  /** Of a program outside: itself, which was judged. */
  judged: JudgedProgram | undefined;
  /** Absent: nobody is asked. */
  questions: QuestionLimits | undefined;
}

/** A program as it was judged, with what its caller has given it. */
export interface OutsideProgram {
  profile: OutsideProfile;
  /** Absolute, its links resolved. */
  file: string;
  argv: readonly Uint8Array[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  judged: JudgedProgram;
  place: StartPlace;
  /** Descriptors of this process, and their numbers in the program. */
  descriptors: readonly (readonly [fd: number, number: number])[];
}

export type FromSupervisor =
  /** Programs of a command; `first` is the number of the first of them. `omitted`: those that are not reported, so far. */
  | { type: "reports"; mark: bigint; first: number; reports: ProgramReport[]; omitted: number }
  /** A program of a command waits for the answer. */
  | { type: "question"; mark: bigint; id: number; question: ProgramQuestion }
  /** Nobody waits for its answer any more. */
  | { type: "withdrawn"; mark: bigint; id: number }
  /** A program is to be started outside, for a caller that waits for its end. Its descriptors stay open until it was started. */
  | { type: "outside"; mark: bigint; id: number; program: OutsideProgram }
  /** Nobody waits for a program that was to be started outside. */
  | { type: "outside_dropped"; id: number }
  /** As of waitpid(2). */
  | { type: "exited"; pid: number; status: number }
  | { type: "closed"; judged: number; verified: number };
