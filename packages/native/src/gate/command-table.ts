import { readdirSync } from "node:fs";
import { type CompiledGate, compileGate, type GateRules, type QuestionLimits } from "@codex/exec-gate";
import { MAX_ENDED_COMMANDS } from "../limits.js";
import type { FileId } from "./find-file.js";
import type { KernelCalls } from "./kernel-calls.js";

/** What a program outside has to be when it starts. */
export interface JudgedProgram {
  readonly file: FileId;
  readonly directory: FileId;
}

/** Where a command finds programs, and where it can change them. */
export interface CommandReach {
  /** The directories of its `PATH`. */
  readonly path: readonly string[];
  /** The longest path that another is, or is below, decides; without any it cannot be written. */
  readonly access: readonly { readonly path: string; readonly isWritable: boolean }[];
}

/** A command whose programs are judged. */
export interface Command {
  /** What all of its processes carry; see `Marks`. */
  readonly mark: bigint;
  /** `GateRules` as JSON, and compiled. */
  readonly rules: string;
  readonly gate: CompiledGate;
  /** The program that the starter starts. */
  readonly file: string;
  /** Its processes are in a process namespace of their own, which none of them can leave. */
  readonly isSandboxed: boolean;
  /** Programs that its sandbox starts before the command's own; they are not judged. */
  wrappers: number;
  /** Absent: it can change every program, or runs in no sandbox. */
  readonly reach: CommandReach | undefined;
  /** Absent: its programs cannot leave its sandbox. The environment that it was started with. */
  readonly leaving: { readonly env: Readonly<Record<string, string>> } | undefined;
  /** Of a command that is a program outside: that program, which was judged for its caller, until it has started. */
  judged: JudgedProgram | undefined;
  /** Absent: nobody is asked. */
  readonly questions: QuestionLimits | undefined;
  hasEnded: boolean;
}

/** Commands by what the kernel tells about a caller: its namespace, and its mark, which an unsandboxed command can change. */
export class CommandTable {
  readonly #calls: KernelCalls;
  readonly #byMark = new Map<bigint, Command>();
  /** By the inode of the namespace of processes, which stays the same while the descriptor is open. */
  readonly #byNamespace = new Map<bigint, { command: Command; fd: number }>();
  readonly #ownNamespace: bigint | undefined;
  readonly #status = Buffer.alloc(STATX_BYTES);
  readonly #limits = new BigUint64Array(2);
  /** The same rules of many commands are compiled once. */
  readonly #compiled = new Map<string, { gate: CompiledGate; users: number }>();

  constructor(calls: KernelCalls) {
    this.#calls = calls;
    this.#ownNamespace = this.#readNamespace("self");
  }

  /** @throws {GateRuleError} */
  add(command: Omit<Command, "gate" | "hasEnded">): void {
    const { rules } = command;
    const known = this.#compiled.get(rules) ?? { gate: compileGate(JSON.parse(rules) as GateRules), users: 0 };
    known.users += 1;
    this.#compiled.set(rules, known);
    this.#byMark.set(command.mark, { ...command, gate: known.gate, hasEnded: false });
  }

  get(mark: bigint): Command | undefined {
    return this.#byMark.get(mark);
  }

  /** The command of a thread; undefined for one that belongs to none. With `isHidden` it may be another's. */
  find(tid: number): { command: Command | undefined; isHidden: boolean } {
    const namespace = this.#readNamespace(tid);
    if (namespace === undefined) return { command: this.#findMarked(tid), isHidden: true };
    return { command: this.#findIn(tid, namespace), isHidden: false };
  }

  #findIn(tid: number, namespace: bigint): Command | undefined {
    const known = this.#byNamespace.get(namespace);
    if (known !== undefined) return known.command;
    const command = this.#findMarked(tid);
    if (command === undefined || !command.isSandboxed || namespace === this.#ownNamespace) return command;
    return this.#adopt(tid, namespace, command);
  }

  /** Its processes have ended; if it is not sandboxed, all but some that left its group. */
  end(mark: bigint): void {
    const command = this.#byMark.get(mark);
    if (command === undefined) return;
    command.hasEnded = true;
    if (command.isSandboxed) this.#remove(command);
    else if ([...this.#byMark.values()].filter(({ hasEnded }) => hasEnded).length > MAX_ENDED_COMMANDS) {
      this.#removeUnmarked();
    }
  }

  close(): void {
    for (const { fd } of this.#byNamespace.values()) this.#calls.close(fd);
    this.#byNamespace.clear();
  }

  /** The first program in a namespace is started by its sandbox, and carries the mark that the starter gave. */
  #adopt(tid: number, namespace: bigint, command: Command): Command | undefined {
    const isTaken = [...this.#byNamespace.values()].some((each) => each.command === command);
    if (isTaken) return undefined;
    const fd = this.#calls.open(`/proc/${tid}/ns/pid`, O_CLOEXEC);
    if (fd < 0) return undefined;
    this.#byNamespace.set(namespace, { command, fd });
    return command;
  }

  #findMarked(tid: number): Command | undefined {
    if (this.#calls.getLimit(tid, RLIMIT_LOCKS, this.#limits) !== 0) return undefined;
    return this.#byMark.get(this.#limits[0]!);
  }

  #readNamespace(process: number | "self"): bigint | undefined {
    if (this.#calls.getStatus(AT_FDCWD, `/proc/${process}/ns/pid`, this.#status) !== 0) return undefined;
    return this.#status.readBigUInt64LE(32);
  }

  #remove(command: Command): void {
    this.#byMark.delete(command.mark);
    for (const [namespace, entry] of this.#byNamespace) {
      if (entry.command !== command) continue;
      this.#calls.close(entry.fd);
      this.#byNamespace.delete(namespace);
    }
    const known = this.#compiled.get(command.rules)!;
    known.users -= 1;
    if (known.users === 0) this.#compiled.delete(command.rules);
  }

  /** Removes ended commands of which no process is left. */
  #removeUnmarked(): void {
    const marked = new Set<bigint>();
    for (const pid of listProcesses()) {
      if (this.#calls.getLimit(pid, RLIMIT_LOCKS, this.#limits) === 0) marked.add(this.#limits[0]!);
    }
    for (const command of [...this.#byMark.values()]) {
      if (command.hasEnded && !marked.has(command.mark)) this.#remove(command);
    }
  }
}

/** fcntl.h, linux/stat.h and sys/resource.h of Linux. */
const O_CLOEXEC = 0o2000000;
const AT_FDCWD = -100;
const STATX_BYTES = 256;
const RLIMIT_LOCKS = 10;

const listProcesses = (): number[] => readdirSync("/proc").map(Number).filter(Number.isInteger);
