import { join } from "node:path";
import type { ProcessOutcome } from "@codex/executor-protocol";
import type { LiveOutput, Orchestrator, RunningCommand, RunOutcome } from "@codex/orchestrator";
import type { Random } from "../random.js";
import type { Delivered, ProcessRecord } from "./check-process.js";
import { type History, inTime, LONGEST_MS } from "./history.js";
import { createProgram, type Program } from "./programs.js";

export interface CommandDrive {
  name: string;
  directory: string;
  random: Random;
  history: History;
  orchestrator: Orchestrator;
  mayBeLost(): boolean;
  /** Called before each action, and when the outcome is known. */
  onEvent?(event: DriveEvent): void;
}

/** An action on a program after its start. `resize`: rows and columns; `end`: it is terminated. */
export type DriveEvent =
  | { kind: "line"; text: string }
  | { kind: "signal" }
  | { kind: "resize"; size: string }
  | { kind: "end" }
  | { kind: "ended"; end: RunOutcome };

/** The same as `driveProcess` through an orchestrator, with `runCommand` and live output. */
export async function driveCommand(drive: CommandDrive): Promise<{ file: string; finish(): ProcessRecord }> {
  const { history, name } = drive;
  const program = createProgram(drive.random.fork("program"));
  const file = join(drive.directory, name);
  const script = new CommandScript(drive, program);
  history.note(`${name}: start ${program.name}`);
  await inTime(history, `${name}: its script`, LONGEST_MS, script.run(file));
  return { file, finish: () => script.finish() };
}

class CommandScript {
  readonly #drive: CommandDrive;
  readonly #random: Random;
  readonly #program: Program;
  readonly #chunks: Delivered[] = [];
  readonly #evicted: { from: number; to: number }[] = [];
  readonly #lines: { text: string; accepted: boolean }[] = [];
  readonly #signals = { sent: 0, answered: 0 };
  readonly #resizes = { sizes: [] as string[], oneByOne: true };
  readonly #wakers = new Set<() => void>();
  #bytes = 0;
  #start: ProcessRecord["start"] = "unknown";
  #outcome: ProcessOutcome | undefined;
  #mayBeLost = false;
  #ended = false;
  #left = false;

  constructor(drive: CommandDrive, program: Program) {
    this.#drive = drive;
    this.#random = drive.random.fork("script");
    this.#program = program;
  }

  async run(file: string): Promise<void> {
    const { orchestrator, directory } = this.#drive;
    const { script, tty, stdin } = this.#program;
    const command = orchestrator.runCommand(
      {
        argv: ["/bin/sh", "-c", script],
        cwd: directory,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", FILE: file },
        tty,
        stdin,
      },
      { onOutput: (output) => this.#take(output) },
    );
    const ended = command.ended.then((end) => {
      this.#note(`ended: ${JSON.stringify(end)}`);
      this.#drive.onEvent?.({ kind: "ended", end });
      this.#mayBeLost = this.#drive.mayBeLost();
      if (end.kind === "refused") this.#start = "refused";
      if (end.kind === "ended") this.#start = "started";
      if (end.kind === "ended") this.#outcome = end.outcome;
      if (end.kind === "lost") this.#outcome = { kind: "lost", reason: end.reason, lastSeq: 0 };
      for (const wake of this.#wakers) wake();
    });
    if (this.#program.takes === "lines") await this.#writeLines(command);
    if (this.#program.takes === "signals") await this.#sendSignals(command);
    if (this.#program.takes === "resizes") await this.#resize(command);
    const choice = this.#random.between(1, 10);
    if (choice <= 2) {
      this.#ended = true;
      this.#left = true;
      return;
    }
    if (!this.#program.ends || choice === 3) {
      this.#ended = true;
      this.#drive.onEvent?.({ kind: "end" });
      await this.#try("terminate", command.signal(this.#random.pick(["terminate", "kill"])));
      // A shell that reads from a terminal may ignore the first signal, and a signal may be lost with its response.
      if (this.#outcome === undefined) await this.#try("kill", command.signal("kill"));
    }
    await ended;
  }

  finish(): ProcessRecord {
    const { name } = this.#drive;
    return {
      name: `${name} (${this.#program.name})`,
      program: this.#program,
      outcome: this.#outcome,
      start: this.#start,
      // The output of a child that keeps it open is not awaited.
      closed: this.#outcome?.kind === "exited" && this.#program.name !== "late",
      chunks: this.#chunks,
      evicted: this.#evicted,
      followed: undefined,
      missing: 0,
      lines: this.#lines,
      signals: this.#signals,
      resizes: this.#resizes,
      ended: this.#ended,
      mayBeLost: this.#mayBeLost || this.#left,
      codesOnly: false,
    };
  }

  #take({ stream, offset, bytes, dropped }: LiveOutput): void {
    if (dropped !== undefined) this.#evicted.push(dropped);
    this.#chunks.push({ stream, offset, bytes });
    this.#bytes = offset + bytes.length;
    for (const wake of this.#wakers) wake();
  }

  async #writeLines(command: RunningCommand): Promise<void> {
    if (this.#program.tty) await this.#untilBytes(1);
    const pending: Promise<boolean>[] = [];
    for (let index = 0, count = this.#random.between(0, 12); index < count; index += 1) {
      const line = { text: `${index}${"x".repeat(this.#random.between(0, 150))}`, accepted: false };
      this.#lines.push(line);
      this.#drive.onEvent?.({ kind: "line", text: line.text });
      const write = this.#try(`line ${index}`, command.write(Buffer.from(`${line.text}\n`)));
      void write.then((accepted) => {
        line.accepted = accepted;
      });
      pending.push(write);
      if (this.#random.chance(0.5)) await write;
    }
    await Promise.all(pending);
    if (this.#random.chance(0.7)) await this.#try("close stdin", command.closeStdin());
    if (this.#random.chance(0.5)) await this.#untilBytes(1);
  }

  /** Sends signals one after the other, as the kernel merges pending ones. */
  async #sendSignals(command: RunningCommand): Promise<void> {
    await this.#untilBytes(1);
    for (let index = this.#random.between(0, 4); index > 0 && this.#outcome === undefined; index -= 1) {
      const before = this.#bytes;
      this.#signals.sent += 1;
      this.#drive.onEvent?.({ kind: "signal" });
      if (!(await this.#try("signal", command.signal("interrupt")))) return;
      this.#signals.answered += 1;
      await this.#untilBytes(before + 1);
    }
  }

  /** Resizes to rows and columns that the terminal never had. */
  async #resize(command: RunningCommand): Promise<void> {
    await this.#untilBytes(1);
    this.#resizes.oneByOne = this.#random.chance(0.7);
    const pending: Promise<boolean>[] = [];
    for (let index = 0, count = this.#random.between(0, 6); index < count && this.#outcome === undefined; index += 1) {
      const before = this.#bytes;
      const size = { rows: 30 + index, cols: 100 + index };
      const text = `${size.rows} ${size.cols}`;
      this.#resizes.sizes.push(text);
      this.#drive.onEvent?.({ kind: "resize", size: text });
      const resize = this.#try(`resize ${index}`, command.resize(size));
      pending.push(resize);
      if (!this.#resizes.oneByOne) continue;
      // A failed resize may have arrived: another one could coincide with it.
      if (!(await resize)) return;
      await this.#untilBytes(before + 1);
    }
    await Promise.all(pending);
  }

  async #try(what: string, work: Promise<void>): Promise<boolean> {
    try {
      await work;
      this.#note(`${what}: done`);
      return true;
    } catch (error) {
      this.#note(`${what}: ${String(error)}`);
      return false;
    }
  }

  /** Resolves once there is this much output, or at the end. */
  async #untilBytes(bytes: number): Promise<void> {
    while (this.#bytes < bytes && this.#outcome === undefined && this.#start !== "refused") {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#wakers.delete(wake);
          resolve();
        };
        this.#wakers.add(wake);
      });
    }
  }

  #note(text: string): void {
    this.#drive.history.note(`${this.#drive.name}: ${text}`);
  }
}
