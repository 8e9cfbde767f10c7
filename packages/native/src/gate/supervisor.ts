import { readFileSync, readlinkSync } from "node:fs";
import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { judgeProgram, MAX_JUDGED_WORDS, type ProgramDecision, type ProgramReport } from "@codex/exec-gate";
import { GATE_IDLE_MS, MAX_PATH_BYTES, OUTSIDE_POLL_MS, QUESTION_POLL_MS, REPORT_DELAY_MS } from "../limits.js";
import { openSpawnLock, type SpawnLock } from "../process/spawn-lock.js";
import { type CallerMemory, createCallerMemory } from "./caller-memory.js";
import { type Command, CommandTable, type JudgedProgram } from "./command-table.js";
import { createFileFinder, type FileFinder, isSameFile } from "./find-file.js";
import { type CallReader, createCallReader, judgeStarted, type ReadCall, type StartedProgram } from "./judge-call.js";
import { bindKernelCalls, ERRNO, type KernelCalls } from "./kernel-calls.js";
import { type Leaver, type Leaving, LeavingCallers } from "./leaving.js";
import { createListener, type Listener, type Notification } from "./listener.js";
import type { FromSupervisor, SupervisorData, ToSupervisor } from "./messages.js";
import { Polled } from "./polled.js";
import { Questions, type Refusal, type WaitingCaller } from "./questions.js";
import { Reports } from "./reports.js";
import { STARTER } from "./starter.js";
import { ABIS } from "./system-calls.js";
import { type OnStop, type TracedEnd, Tracer } from "./tracer.js";

/**
 * Judges every program that a command starts, and answers its caller. Runs until it is closed, and never in the event loop of its
 * thread: callers wait meanwhile.
 */
export function runSupervisor(data: SupervisorData, port: MessagePort): void {
  const supervisor = new Supervisor(data, port);
  while (supervisor.isOpen) supervisor.turn();
}

/** A caller that is traced until it has become the program that was judged. */
interface Watched {
  call: ReadCall;
  command: Command;
  /** The rule that asks was answered: it does not ask again about what the kernel has made of the call. */
  isApproved: boolean;
}

class Supervisor {
  readonly #data: SupervisorData;
  readonly #port: MessagePort;
  readonly #calls: KernelCalls;
  readonly #memory: CallerMemory;
  readonly #files: FileFinder;
  readonly #reader: CallReader;
  readonly #table: CommandTable;
  readonly #tracer: Tracer<Watched | Leaving>;
  readonly #leaving: LeavingCallers;
  /** Reports of programs that are outside. */
  readonly #outside = new Map<Leaving, ProgramReport>();
  readonly #polled: Polled;
  readonly #reports: Reports;
  readonly #questions: Questions;
  readonly #spawnLock: SpawnLock;
  /** Mark of the program that is being started. */
  readonly #starting: BigUint64Array;
  /** Descriptors of started processes, by pid. */
  readonly #started = new Map<number, number>();
  #listener: Listener | undefined;
  #canTrace = false;
  #tracedSince = 0;
  #flushedAt = 0;
  #judged = 0;
  #verified = 0;
  isOpen = true;

  constructor(data: SupervisorData, port: MessagePort) {
    this.#data = data;
    this.#port = port;
    this.#calls = bindKernelCalls(ABIS[process.arch]!);
    this.#memory = createCallerMemory(this.#calls);
    this.#files = createFileFinder(this.#calls);
    this.#reader = createCallReader(this.#memory, this.#files);
    this.#table = new CommandTable(this.#calls);
    this.#tracer = new Tracer(this.#calls, (pid, status) => this.#onExit(pid, status));
    this.#polled = new Polled(this.#calls);
    this.#reports = new Reports((message) => this.#send(message));
    this.#questions = new Questions(
      (message) => this.#send(message),
      () => performance.now(),
    );
    this.#leaving = new LeavingCallers({
      calls: this.#calls,
      memory: this.#memory,
      files: this.#files,
      attach: (tid, leaving, onStop) => this.#attach(tid, leaving, onStop),
      poll: (fd) => this.#polled.add(fd),
      unpoll: (fd) => this.#polled.remove(fd),
      send: (message) => this.#send(message),
      isRunning: (pid) => this.#started.has(pid),
      onStarted: (leaving) => this.#reportStarted(leaving),
      onEnded: (leaving, code, problem) => this.#reportEnded(leaving, code, problem),
    });
    this.#spawnLock = openSpawnLock(data.lock, STARTER);
    this.#starting = new BigUint64Array(data.starting);
    this.#polled.add(data.wake);
  }

  turn(): void {
    for (const fd of this.#polled.wait(this.#getTimeout())) {
      if (fd === this.#data.wake) this.#readMessages();
      else if (fd === this.#listener?.fd) this.#answer(this.#listener);
      else if (!this.#leaving.onReadable(fd)) this.#reap(([, each]) => each === fd);
    }
    this.#reap(isUnpolled);
    for (let end = this.#tracer.next(); end !== undefined; end = this.#tracer.next()) {
      this.#onTraced(end);
    }
    if (this.#questions.isOpen) this.#checkQuestions();
    this.#leaving.check(performance.now());
    if (performance.now() - this.#flushedAt >= REPORT_DELAY_MS) this.#flush();
  }

  /** Milliseconds. The kernel does not tell when a traced process stops: usually soon. */
  #getTimeout(): number {
    if (this.#tracer.count > 0) {
      return Math.min(MAX_TRACE_POLL_MS, MIN_TRACE_POLL_MS + (performance.now() - this.#tracedSince) / 8);
    }
    const isWaiting = this.#reports.isPending || [...this.#started].some(isUnpolled);
    if (isWaiting) return REPORT_DELAY_MS;
    if (!this.#leaving.isEmpty) return OUTSIDE_POLL_MS;
    return this.#questions.isOpen ? QUESTION_POLL_MS : GATE_IDLE_MS;
  }

  #flush(): void {
    this.#reports.flush();
    this.#flushedAt = performance.now();
  }

  #send(message: FromSupervisor): void {
    this.#port.postMessage(message);
  }

  #readMessages(): void {
    this.#calls.read(this.#data.wake, Buffer.alloc(1));
    Atomics.store(new Int32Array(this.#data.waking), 0, 0);
    this.#drainMessages();
  }

  #drainMessages(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { message: ToSupervisor } | undefined;
      if (received === undefined) return;
      this.#handle(received.message);
    }
  }

  #handle(message: ToSupervisor): void {
    switch (message.type) {
      case "listen":
        this.#listener = createListener(message.fd, ABIS[process.arch]!.executing, this.#calls);
        this.#polled.add(message.fd);
        return;
      case "tracing":
        this.#canTrace = message.canTrace;
        return;
      case "command":
        this.#table.add(message);
        return;
      case "watch": {
        const fd = this.#calls.openProcess(message.pid);
        this.#started.set(message.pid, fd);
        if (fd >= 0) this.#polled.add(fd);
        return;
      }
      case "answer":
        for (const caller of this.#questions.take(message.id)) {
          if (message.verdict === "run" || message.verdict === "outside") this.#resume(caller, message.verdict);
          else this.#decline(caller, message.verdict);
        }
        return;
      case "outside_started":
        return this.#leaving.onStarted(message.id, message.pid);
      case "outside_ended":
        return this.#leaving.onEnded(message.id, message.code, message.problem);
      case "end":
        this.#leaving.dropAll(message.mark);
        for (const caller of this.#questions.takeAll(message.mark)) this.#dropCaller(caller);
        this.#reports.forget(message.mark);
        this.#table.end(message.mark);
        return;
      case "close":
        this.#close();
        return;
    }
  }

  /** Programs that still wait are not started. */
  #close(): void {
    this.isOpen = false;
    for (const caller of this.#questions.takeAll()) this.#dropCaller(caller);
    this.#leaving.close();
    this.#reports.flush();
    if (this.#listener !== undefined) this.#calls.close(this.#listener.fd);
    for (const fd of this.#started.values()) if (fd >= 0) this.#calls.close(fd);
    this.#table.close();
    this.#send({ type: "closed", judged: this.#judged, verified: this.#verified });
  }

  #reap(isMeant: (entry: readonly [pid: number, fd: number]) => boolean): void {
    const status = new Int32Array(1);
    for (const [pid] of [...this.#started].filter(isMeant)) {
      if (this.#calls.wait(pid, status, WNOHANG) === pid) this.#onExit(pid, status[0]!);
    }
  }

  #onExit(pid: number, status: number): void {
    const fd = this.#started.get(pid);
    if (fd === undefined) return;
    this.#started.delete(pid);
    if (fd >= 0) {
      this.#polled.remove(fd);
      this.#calls.close(fd);
    }
    this.#reports.flush();
    this.#send({ type: "exited", pid, status });
  }

  #answer(listener: Listener): void {
    const notification = listener.receive();
    if (notification === undefined) return;
    this.#judged += 1;
    const leaving = this.#leaving.find(notification.tid);
    if (leaving !== undefined) return this.#answerLeaving(listener, notification, leaving);
    const { command, isHidden } = this.#table.find(notification.tid);
    if (command === undefined) return this.#answerStart(listener, notification);
    if (takeWrapper(command)) listener.let(notification.id);
    else if (isHidden) this.#refuse(listener, notification, command, UNREAD, { reason: "hidden" });
    else this.#judge(listener, notification, command, notification.tid);
  }

  /** Another thread of the caller can have changed what it calls. */
  #answerLeaving(listener: Listener, notification: Notification, leaving: Leaving): void {
    // Verified like every program: its descriptor could be another's when the kernel looks at it.
    if (this.#leaving.isStub(leaving, notification) && this.#attach(notification.tid, leaving)) {
      leaving.stage = "entering";
      return void listener.let(notification.id);
    }
    this.#leaving.drop(leaving);
    this.#refuse(listener, notification, leaving.command, leaving.call, { reason: "changed", rule: leaving.rule.id });
  }

  /** The program that the starter starts has the memory of this process, and carries no mark yet. */
  #answerStart(listener: Listener, notification: Notification): void {
    const { id, tid, path } = notification;
    this.#drainMessages();
    const mark = Atomics.load(this.#starting, 0);
    const command = this.#table.get(mark);
    const called = command && this.#memory.readText(process.pid, path, MAX_PATH_BYTES);
    const file = called && "value" in called ? called.value.toString() : undefined;
    if (command === undefined || (file !== command.file && file !== SHELL)) return listener.fail(id, ERRNO.EPERM);
    const limits = new BigUint64Array(2);
    this.#calls.getLimit(tid, RLIMIT_LOCKS, limits);
    limits[0] = mark;
    const marked = this.#calls.setLimit(tid, RLIMIT_LOCKS, limits);
    this.#spawnLock.release();
    if (marked !== 0) return listener.fail(id, ERRNO.EAGAIN);
    if (takeWrapper(command)) listener.let(id);
    else this.#judge(listener, notification, command, process.pid);
  }

  /** @param owner whose memory and files are those of the caller; this process for one that it is starting itself */
  #judge(listener: Listener, notification: Notification, command: Command, owner: number): void {
    const reading = this.#reader.read({ ...notification, tid: owner }, command);
    if (!listener.isWaiting(notification.id)) return closeRead(reading, this.#calls);
    if (reading === "hidden") return this.#refuse(listener, notification, command, UNREAD, { reason: "hidden" });
    if ("errno" in reading) return listener.fail(notification.id, reading.errno);
    const { call } = reading;
    if (command.judged !== undefined) {
      const isSame = this.#isJudged(command.judged, call, notification.tid);
      command.judged = undefined;
      if (isSame) listener.let(notification.id);
      else this.#refuse(listener, notification, command, call, { reason: "changed" });
      return closeRead(reading, this.#calls);
    }
    const decided = judgeProgram(command.gate, call.program);
    const isOwn = owner !== notification.tid;
    // The starting thread must not wait for an answer, and without verification another program could start than was approved.
    if (decided.decision === "ask" && !isOwn && this.#canTrace) {
      return this.#ask({ notification, command, call, rule: decided.rule });
    }
    if (decided.decision === "outside" && command.leaving !== undefined && !isOwn) {
      return this.#leave({ notification, command, call, rule: decided.rule, reason: "rule" });
    }
    const found = explain(decided);
    if (decided.decision === "refuse" || decided.decision === "ask") {
      this.#refuse(listener, notification, command, call, found!);
      return closeRead(reading, this.#calls);
    }
    if (found !== undefined) this.#report(command, notification.tid, call, "inside", found);
    if (!isOwn && (command.gate.restricts || call.file === undefined)) {
      return this.#watch(listener, notification, command, call);
    }
    listener.let(notification.id);
    closeRead(reading, this.#calls);
  }

  /** Whether the file and the directory by these names are still those of the program that was judged for its caller. */
  #isJudged({ file, directory }: JudgedProgram, call: ReadCall, tid: number): boolean {
    return isSameFile(call.file?.id, file) && isSameFile(this.#files.readDirectoryId(tid), directory);
  }

  /** A program that cannot run outside runs inside, where only a rule has allowed it; one that somebody has approved is refused. */
  #leave(leaver: Leaver): void {
    const { notification, command, call, rule, reason } = leaver;
    const listener = this.#listener!;
    const begun = this.#canTrace
      ? this.#leaving.begin(leaver, listener)
      : { problem: "its caller cannot be traced here" };
    if (begun === "leaves" || begun === "gone") return closeRead({ call }, this.#calls);
    const found: Found = { reason: "not_outside", rule: rule.id, detail: begun.problem };
    if (reason === "approved") {
      this.#refuse(listener, notification, command, call, found);
      return closeRead({ call }, this.#calls);
    }
    this.#report(command, notification.tid, call, "inside", found);
    if (command.gate.restricts || call.file === undefined) return this.#watch(listener, notification, command, call);
    listener.let(notification.id);
    closeRead({ call }, this.#calls);
  }

  #attach(tid: number, leaving: Leaving, onStop?: OnStop): boolean {
    if (!this.#tracer.attach(tid, leaving, onStop)) return false;
    this.#tracedSince = performance.now();
    return true;
  }

  #onTraced(end: TracedEnd<Watched | Leaving>): void {
    const { item } = end;
    if ("stage" in item) {
      this.#onLeavingTraced(item, end);
      return;
    }
    if (end.kind === "started") this.#verify(item, end.pid);
    if (item.call.file !== undefined) this.#calls.close(item.call.file.fd);
  }

  #onLeavingTraced(leaving: Leaving, end: TracedEnd<Watched | Leaving>): void {
    const { stage, command, call, rule } = leaving;
    if (end.kind === "started") {
      // Before it has run an instruction, and so before it says that it is there.
      if (stage === "entering" && this.#leaving.isStubStarted(leaving, end.pid)) {
        leaving.stage = "entered";
        return this.#tracer.release(end.pid);
      }
      this.#tracer.kill(end.pid);
      this.#report(command, end.pid, call, "killed", { reason: "changed", rule: rule.id });
      return this.#leaving.drop(leaving);
    }
    if (stage === "stopping" || stage === "entering") this.#leaving.drop(leaving);
  }

  #reportStarted(leaving: Leaving): void {
    const { command, notification, call, rule, reason, dropped } = leaving;
    const found: Found = { reason, rule: rule.id, ...(dropped.length > 0 ? { droppedVariables: dropped } : {}) };
    const report = this.#report(command, notification.tid, call, "outside", found);
    if (report !== undefined) this.#outside.set(leaving, report);
  }

  #reportEnded(leaving: Leaving, code: number, problem: string | undefined): void {
    const { command, notification, call, rule } = leaving;
    const report = this.#outside.get(leaving);
    this.#outside.delete(leaving);
    if (problem !== undefined) {
      const found: Found = { reason: "not_outside", rule: rule.id, detail: problem };
      this.#report(command, notification.tid, call, "refused", found);
    } else if (report !== undefined) {
      report.exitCode = code < 256 ? code : code - 128;
      this.#reports.touch(command.mark, report);
    }
  }

  /** The program starts, or is refused, once somebody has answered. */
  #ask(caller: WaitingCaller): void {
    const asked = this.#questions.add(caller, readDirectory(caller.notification.tid));
    if (asked !== "waits") this.#decline(caller, asked);
  }

  #resume({ notification, command, call, rule }: WaitingCaller, verdict: "run" | "outside"): void {
    const listener = this.#listener!;
    const isWaiting = listener.isWaiting(notification.id);
    if (isWaiting && verdict === "outside") this.#leave({ notification, command, call, rule, reason: "approved" });
    else if (isWaiting) this.#watch(listener, notification, command, call, true);
    else closeRead({ call }, this.#calls);
  }

  #decline(caller: WaitingCaller, reason: Refusal): void {
    const { notification, command, call, rule } = caller;
    this.#questions.noteRefused(caller, reason);
    if (this.#listener!.isWaiting(notification.id)) {
      this.#refuse(this.#listener!, notification, command, call, { reason, rule: rule.id });
    }
    closeRead({ call }, this.#calls);
  }

  /** Its command has ended, or the gate has: nobody is told. */
  #dropCaller({ notification, call }: WaitingCaller): void {
    this.#listener?.fail(notification.id, ERRNO.EPERM);
    closeRead({ call }, this.#calls);
  }

  #checkQuestions(): void {
    const gone = this.#questions.takeGone(({ notification }) => !this.#listener!.isWaiting(notification.id));
    for (const { call } of gone) closeRead({ call }, this.#calls);
    for (const caller of this.#questions.takeOverdue()) this.#decline(caller, "unanswered");
  }

  #watch(listener: Listener, notification: Notification, command: Command, call: ReadCall, isApproved = false): void {
    const { id, tid } = notification;
    if (this.#canTrace && this.#tracer.attach(tid, { call, command, isApproved })) {
      this.#tracedSince = performance.now();
      listener.let(id);
      return;
    }
    // Without any tracing a rule is enforced as well as it can be, but nothing runs that was not found.
    if (!this.#canTrace && call.file !== undefined) listener.let(id);
    else {
      const reason = this.#canTrace ? "unverified" : "unresolved";
      this.#refuse(listener, notification, command, call, { reason });
    }
    closeRead({ call }, this.#calls);
  }

  #verify({ call, command, isApproved }: Watched, pid: number): void {
    this.#verified += 1;
    const started = this.#readStarted(pid);
    const judged = started === undefined ? "unread" : judgeStarted(command.gate, call, started);
    if (judged === "same") return this.#tracer.release(pid);
    const found: Found | undefined =
      judged === "unread" ? { reason: "unverified" } : judged === "changed" ? { reason: "changed" } : explain(judged);
    const isAllowed = isApproved && found?.reason === "unasked";
    if (found === undefined || isAllowed) return this.#tracer.release(pid);
    this.#tracer.kill(pid);
    this.#report(command, pid, call, "killed", found);
  }

  #readStarted(pid: number): StartedProgram | undefined {
    const program = this.#files.readProgram(pid);
    if (program === undefined) return undefined;
    try {
      return { ...program, words: splitWords(readFileSync(`/proc/${pid}/cmdline`)) };
    } catch {
      return undefined; // it was killed
    }
  }

  /** EPERM, not EACCES, for which a search through PATH goes on. */
  #refuse(
    listener: Listener,
    { id, tid }: Notification,
    command: Command,
    call: Pick<ReadCall, "program">,
    found: Found,
  ): void {
    listener.fail(id, ERRNO.EPERM);
    this.#report(command, tid, call, "refused", found);
  }

  #report(
    { mark }: Command,
    tid: number,
    { program }: Pick<ReadCall, "program">,
    decision: ProgramReport["decision"],
    found: Found,
  ): ProgramReport | undefined {
    const name = program.file ?? program.given ?? program.argv[0] ?? "";
    return this.#reports.add(mark, tid, { program: name, argv: program.argv, decision, ...found });
  }
}

/** Whether the next program of a command is one that its sandbox starts: it is not judged. */
function takeWrapper(command: Command): boolean {
  if (command.wrappers === 0) return false;
  command.wrappers -= 1;
  return true;
}

/** A process for which there was no descriptor. */
const isUnpolled = ([, fd]: readonly [pid: number, fd: number]): boolean => fd < 0;

/** What a report says about why. */
type Found = Pick<ProgramReport, "reason" | "rule" | "detail" | "droppedVariables">;

function explain(decided: ProgramDecision): Found | undefined {
  switch (decided.decision) {
    case "run":
    case "outside": // it is there, or stays in its sandbox
      return undefined;
    case "ask":
      return { reason: "unasked", rule: decided.rule.id };
    case "refuse":
      return { reason: "rule", rule: decided.rule.id };
  }
}

/** As the caller sees it. */
function readDirectory(tid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${tid}/cwd`);
  } catch {
    return undefined;
  }
}

const UNREAD: Pick<ReadCall, "program"> = { program: { argv: [], trust: "none" } };

function closeRead(reading: ReturnType<CallReader["read"]>, calls: KernelCalls): void {
  if (reading !== "hidden" && "call" in reading && reading.call.file !== undefined) calls.close(reading.call.file.fd);
}

/** One more than are compared. */
function splitWords(bytes: Buffer): Buffer[] {
  const words: Buffer[] = [];
  for (let at = 0; at < bytes.length && words.length <= MAX_JUDGED_WORDS + SCRIPT_WORDS; ) {
    const end = bytes.indexOf(0, at);
    words.push(bytes.subarray(at, end < 0 ? bytes.length : end));
    at = end < 0 ? bytes.length : end + 1;
  }
  return words;
}

/** Words that the kernel adds for interpreters. */
const SCRIPT_WORDS = 16;

/** What runs a script without `#!`. */
const SHELL = "/bin/sh";

/** sys/resource.h and sys/wait.h of Linux. */
const RLIMIT_LOCKS = 10;
const WNOHANG = 1;

/** Milliseconds between two looks at traced processes. */
const MIN_TRACE_POLL_MS = 0.1;
const MAX_TRACE_POLL_MS = 20;
