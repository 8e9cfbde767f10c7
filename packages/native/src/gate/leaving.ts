import { readdirSync, readFileSync } from "node:fs";
import {
  type CompiledGate,
  type GateRule,
  judgeProgram,
  MAX_JUDGED_WORDS,
  type ReportReason,
  selectEnvironment,
} from "@codex/exec-gate";
import {
  MAX_ALL_WORDS,
  MAX_HELD_DESCRIPTORS,
  MAX_LEAVING,
  MAX_PASSED_DESCRIPTORS,
  OUTSIDE_GRACE_MS,
} from "../limits.js";
import { readProcessStat } from "../process/process-stat.js";
import type { CallerMemory } from "./caller-memory.js";
import type { Command } from "./command-table.js";
import { type FileFinder, isSameFile } from "./find-file.js";
import type { ReadCall } from "./judge-call.js";
import { ERRNO, type KernelCalls } from "./kernel-calls.js";
import type { Listener, Notification } from "./listener.js";
import type { FromSupervisor, OutsideProgram } from "./messages.js";
import { callExecveat, canCallExecveat } from "./registers.js";
import { assembleStub } from "./stub.js";

/** A caller whose program is to run outside. */
export interface Leaver {
  readonly notification: Notification;
  readonly command: Command;
  readonly call: ReadCall;
  readonly rule: GateRule;
  /** Why it leaves. */
  readonly reason: Extract<ReportReason, "rule" | "approved">;
}

/** What is passed on for it; the descriptors are this process's own. */
interface Prepared {
  program: OutsideProgram;
  dropped: readonly string[];
  /** The first thread of the caller, and a descriptor of its process. */
  tgid: number;
  process: number;
}

/**
 * `stopping`: its call has been failed, and it stops before it runs on. `becoming`: it is to call the stub. `entering`: it has. `entered`: it
 * is the stub, which will say that it is there. `starting`: its program is being started. `running`: outside. `ending`: nobody waits for its
 * program any more.
 */
type Stage = "stopping" | "becoming" | "entering" | "entered" | "starting" | "running" | "ending";

/** A caller that leaves its sandbox: it becomes a stub, in place, which ends like the program that runs outside instead. */
export interface Leaving extends Leaver, Prepared {
  readonly id: number;
  stage: Stage;
  /** This end of the socket that the stub holds; -1 once it is closed. */
  socket: number;
  /** The stub. */
  image: number;
  /** Signals that the caller got meanwhile: they are for its program. */
  signals: number[];
  /** The program outside. */
  pid: number | undefined;
  isStopped: boolean;
  /** Milliseconds, of `performance.now()`: when it is killed. */
  killAt: number;
}

type Sent = Extract<FromSupervisor, { type: "outside" | "outside_dropped" }>;

export interface LeavingHost {
  calls: KernelCalls;
  memory: CallerMemory;
  files: FileFinder;
  /** Stops a caller when its call has failed. False if it cannot be traced. */
  attach(tid: number, leaving: Leaving, onStop: (signal: number) => "wait" | "release"): boolean;
  poll(fd: number): void;
  unpoll(fd: number): void;
  send(message: Sent): void;
  /** Whether a program outside has not been waited for, so that its pid is its own. */
  isRunning(pid: number): boolean;
  onStarted(leaving: Leaving): void;
  onEnded(leaving: Leaving, code: number, problem: string | undefined): void;
}

/**
 * Callers whose programs run outside of their sandboxes. What runs there is a copy of what was judged, and nothing is written into the
 * memory of a caller: its call is repeated with other registers.
 */
export class LeavingCallers {
  readonly #host: LeavingHost;
  readonly #byId = new Map<number, Leaving>();
  #nextId = 0;

  constructor(host: LeavingHost) {
    this.#host = host;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** With a problem the caller still waits for its answer. */
  begin(leaver: Leaver, listener: Listener): "leaves" | "gone" | { problem: string } {
    const prepared = this.#prepare(leaver);
    if (typeof prepared === "string") return { problem: prepared };
    const { id } = leaver.notification;
    const problem = listener.isWaiting(id) ? this.#divert(leaver, prepared, listener) : CALLER_IS_GONE;
    if (problem === undefined) return "leaves";
    this.#free(prepared);
    return listener.isWaiting(id) ? { problem } : "gone";
  }

  /** The caller that calls the stub, or what another thread has made of its call. */
  find(tid: number): Leaving | undefined {
    return [...this.#byId.values()].find(({ stage, notification }) => stage === "becoming" && notification.tid === tid);
  }

  /** Whether the call starts the stub and nothing else. */
  isStub({ image, process }: Leaving, { tid, path, flags, directory }: Notification): boolean {
    const { calls, memory, files } = this.#host;
    const text = memory.readText(tid, path, 1);
    if (!("value" in text) || text.value.length > 0 || (flags & AT_EMPTY_PATH) === 0) return false;
    const fd = calls.copyDescriptor(process, directory);
    if (fd < 0) return false;
    const [called, expected] = [files.readId(fd), files.readId(image)];
    calls.close(fd);
    return isSameFile(called, expected);
  }

  /** Whether it has become the stub, and not what another thread made of its call after it was answered. */
  isStubStarted({ image }: Leaving, pid: number): boolean {
    const { files } = this.#host;
    return isSameFile(files.readProgram(pid)?.id, files.readId(image));
  }

  /** One of the sockets is readable, or closed. False if it is none of them. */
  onReadable(fd: number): boolean {
    const leaving = [...this.#byId.values()].find(({ socket }) => socket === fd);
    if (leaving === undefined) return false;
    const isHere = this.#host.calls.read(fd, Buffer.alloc(1)) === 1 && leaving.stage === "entered";
    if (isHere) this.#start(leaving);
    else this.drop(leaving);
    return true;
  }

  onStarted(id: number, pid: number): void {
    const leaving = this.#byId.get(id);
    if (leaving === undefined) return;
    leaving.pid = pid;
    this.#closeDescriptors(leaving);
    this.#host.onStarted(leaving);
    if (leaving.stage === "starting") leaving.stage = "running";
    else this.#end(leaving);
  }

  onEnded(id: number, code: number, problem: string | undefined): void {
    const leaving = this.#byId.get(id);
    if (leaving === undefined) return;
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(code);
    if (leaving.socket >= 0) this.#host.calls.write(leaving.socket, bytes);
    this.#host.onEnded(leaving, code, problem);
    this.#remove(leaving);
  }

  /** Nobody waits for its program any more: it ends, or is not started. */
  drop(leaving: Leaving): void {
    const { stage } = leaving;
    if (stage !== "starting" && stage !== "running") return stage === "ending" ? undefined : this.#remove(leaving);
    this.#closeSocket(leaving);
    leaving.stage = "ending";
    if (stage === "running") this.#end(leaving);
    else this.#host.send({ type: "outside_dropped", id: leaving.id });
  }

  /** Those of a command. */
  dropAll(mark: bigint): void {
    for (const leaving of [...this.#byId.values()]) if (leaving.command.mark === mark) this.drop(leaving);
  }

  /** Call now and then: what is outside stops and goes on with its caller, and is killed if it does not end. */
  check(now: number): void {
    for (const leaving of this.#byId.values()) {
      if (leaving.stage === "ending" && now >= leaving.killAt) this.#signal(leaving, SIGKILL);
      if (leaving.stage !== "running") continue;
      const isStopped = readProcessStat(leaving.tgid)?.state === "T";
      if (isStopped !== leaving.isStopped) this.#signal(leaving, isStopped ? SIGSTOP : SIGCONT);
      leaving.isStopped = isStopped;
    }
  }

  /** Kills what runs outside: nobody will be there to end it. */
  close(): void {
    for (const leaving of [...this.#byId.values()]) {
      this.#signal(leaving, SIGKILL);
      this.#remove(leaving);
    }
  }

  #prepare({ notification, command, call, rule }: Leaver): Prepared | string {
    const { calls, files } = this.#host;
    const { tid } = notification;
    const { place } = rule;
    const file = call.program.file;
    if (!canCallExecveat(process.arch, notification.abi)) return "its caller is a program of 32 bits";
    if (command.leaving === undefined || place.kind !== "outside") return "its command is not sandboxed";
    if (this.#byId.size >= MAX_LEAVING) return `${MAX_LEAVING} programs are outside already`;
    if (file === undefined || call.file === undefined || call.program.trust === "none")
      return "the command may have changed its file";
    if (!isSameFile(files.readIdOf(file), call.file.id)) return "its file is another one outside";
    const argv = this.#readWords(notification, command.gate, call, rule);
    if (argv === undefined) return "its arguments could not be read again";
    const env = this.#readEnvironment(notification);
    if (env === undefined) return "its environment could not be read";
    const status = readStatus(tid);
    const owner = status === undefined ? -1 : calls.openProcess(status.tgid);
    if (status === undefined || owner < 0) return "its process could not be read";
    const directory = files.openDirectoryOf(tid);
    const descriptors = directory === undefined ? [] : this.#copyDescriptors(tid, owner);
    if (directory === undefined || descriptors === undefined) {
      calls.close(owner);
      if (directory !== undefined) calls.close(directory.fd);
      return directory === undefined ? "its directory is another one outside" : "its descriptors could not be copied";
    }
    const selected = selectEnvironment(command.leaving.env, env, rule.env);
    const program: OutsideProgram = {
      profile: place.profile,
      file,
      argv,
      env: { ...selected.env, ...(env.PWD === undefined ? {} : { PWD: directory.path }) },
      cwd: directory.path,
      judged: { file: call.file.id, directory: directory.id },
      place: { directory: directory.fd, umask: status.umask },
      descriptors,
    };
    return { program, dropped: selected.dropped, tgid: status.tgid, process: owner };
  }

  /** More words than are judged are read as a whole, and must be judged alike. */
  #readWords({ tid, argv, pointerBytes }: Notification, gate: CompiledGate, call: ReadCall, rule: GateRule) {
    if (call.argv.length <= MAX_JUDGED_WORDS) return call.argv;
    const all = this.#host.memory.readVector(tid, argv, pointerBytes, MAX_ALL_WORDS);
    if ("errno" in all || all.value.length > MAX_ALL_WORDS) return undefined;
    const decided = judgeProgram(gate, { ...call.program, argv: all.value.map((word) => word.toString()) });
    return decided.rule?.id === rule.id ? all.value : undefined;
  }

  #readEnvironment({ tid, envp, pointerBytes }: Notification): Record<string, string> | undefined {
    const read = this.#host.memory.readVector(tid, envp, pointerBytes, MAX_ALL_WORDS);
    if ("errno" in read || read.value.length > MAX_ALL_WORDS) return undefined;
    const env: Record<string, string> = {};
    for (const entry of read.value.map(String)) {
      const end = entry.indexOf("=");
      if (end > 0) env[entry.slice(0, end)] ??= entry.slice(end + 1);
    }
    return env;
  }

  /** Those that a program started in place would have inherited. */
  #copyDescriptors(tid: number, owner: number): OutsideProgram["descriptors"] | undefined {
    const copies: (readonly [number, number])[] = [];
    const held = [...this.#byId.values()].reduce((sum, { program }) => sum + program.descriptors.length, 0);
    const most = Math.min(MAX_PASSED_DESCRIPTORS, MAX_HELD_DESCRIPTORS - held);
    try {
      for (const number of readdirSync(`/proc/${tid}/fdinfo`).map(Number)) {
        const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${tid}/fdinfo/${number}`, "latin1"))?.[1];
        if (flags === undefined || (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0) continue;
        const fd = this.#host.calls.copyDescriptor(owner, number);
        if (fd < 0 || copies.push([fd, number]) > most) throw new Error("too many, or gone");
      }
      return copies;
    } catch {
      for (const [fd] of copies) this.#host.calls.close(fd);
      return undefined;
    }
  }

  /** Returns a problem; then the caller still waits for its answer. */
  #divert(leaver: Leaver, prepared: Prepared, listener: Listener): string | undefined {
    const { calls } = this.#host;
    const { id, tid } = leaver.notification;
    const ends = new Int32Array(2);
    if (calls.createSocketPair(ends) < 0) return "no socket could be opened";
    const [socket, theirs] = [ends[0]!, ends[1]!];
    const held = listener.give(id, theirs, false);
    calls.close(theirs);
    const stub = held < 0 ? undefined : assembleStub(held, process.arch);
    const image = stub === undefined ? -ERRNO.EAGAIN : calls.createSealed("codex-outside", stub);
    const called = image < 0 ? image : listener.give(id, image, true);
    const leaving: Leaving = {
      ...leaver,
      ...prepared,
      id: this.#nextId++,
      stage: "stopping",
      socket,
      image,
      signals: [],
      pid: undefined,
      isStopped: false,
      killAt: Number.POSITIVE_INFINITY,
    };
    const onStop = (signal: number) => {
      if (signal !== 0) {
        leaving.signals.push(signal);
        return "wait";
      }
      leaving.stage = "becoming";
      this.#callStub(leaving, called);
      return "release";
    };
    if (called < 0 || !this.#host.attach(tid, leaving, onStop)) {
      calls.close(socket);
      if (image >= 0) calls.close(image);
      return called < 0 ? "its process has no free descriptor" : "its caller is traced by another program";
    }
    this.#byId.set(leaving.id, leaving);
    this.#host.poll(socket);
    listener.fail(id, ERRNO.EINTR);
    return undefined;
  }

  /** Its own call again, with other registers: the stub, and the same words and environment. */
  #callStub({ notification, call }: Leaving, image: number): void {
    const empty = notification.path + BigInt(call.path.length);
    callExecveat(this.#host.calls, process.arch, { ...notification, image, empty });
  }

  #start(leaving: Leaving): void {
    leaving.stage = "starting";
    for (const signal of leaving.signals) this.#host.calls.kill(leaving.tgid, signal);
    this.#host.send({ type: "outside", mark: leaving.command.mark, id: leaving.id, program: leaving.program });
  }

  #end(leaving: Leaving): void {
    this.#signal(leaving, SIGTERM);
    this.#signal(leaving, SIGCONT);
    leaving.killAt = performance.now() + OUTSIDE_GRACE_MS;
  }

  /** To the group that a program outside leads. */
  #signal({ pid }: Leaving, signal: number): void {
    if (pid !== undefined && this.#host.isRunning(pid)) this.#host.calls.kill(-pid, signal);
  }

  #remove(leaving: Leaving): void {
    this.#byId.delete(leaving.id);
    this.#closeSocket(leaving);
    this.#host.calls.close(leaving.image);
    this.#free(leaving);
  }

  #closeSocket(leaving: Leaving): void {
    if (leaving.socket < 0) return;
    this.#host.unpoll(leaving.socket);
    this.#host.calls.close(leaving.socket);
    leaving.socket = -1;
  }

  #free(prepared: Prepared): void {
    this.#closeDescriptors(prepared);
    this.#host.calls.close(prepared.process);
    if (prepared.program.place.directory >= 0) this.#host.calls.close(prepared.program.place.directory);
    prepared.program = { ...prepared.program, place: { ...prepared.program.place, directory: -1 } };
  }

  /** They keep the pipes of the caller open. */
  #closeDescriptors(prepared: Prepared): void {
    for (const [fd] of prepared.program.descriptors) this.#host.calls.close(fd);
    prepared.program = { ...prepared.program, descriptors: [] };
  }
}

const CALLER_IS_GONE = "its caller is gone";

function readStatus(tid: number): { tgid: number; umask: number } | undefined {
  try {
    const text = readFileSync(`/proc/${tid}/status`, "latin1");
    const tgid = /^Tgid:\s*(\d+)/m.exec(text)?.[1];
    const umask = /^Umask:\s*(\d+)/m.exec(text)?.[1];
    return tgid === undefined || umask === undefined
      ? undefined
      : { tgid: Number(tgid), umask: Number.parseInt(umask, 8) };
  } catch {
    return undefined;
  }
}

/** fcntl.h and signal.h of Linux. */
const O_CLOEXEC = 0o2000000;
const AT_EMPTY_PATH = 0x1000;
const SIGKILL = 9;
const SIGTERM = 15;
const SIGCONT = 18;
const SIGSTOP = 19;
