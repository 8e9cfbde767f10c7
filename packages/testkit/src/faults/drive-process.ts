import { join } from "node:path";
import { ChannelError } from "@codex/channel";
import { ProcessError, StartError, UnknownStartError, WriteError } from "@codex/exec-backend";
import { ClientError, type ExecServerClient, type RemoteBackend, type RemoteProcess } from "@codex/exec-server-client";
import type { TerminalSize } from "@codex/executor-protocol";
import type { Random } from "../random.js";
import type { ProcessRecord } from "./check-process.js";
import { type History, inTime, LONGEST_MS } from "./history.js";
import { createProgram, type Program } from "./programs.js";

export interface Drive {
  name: string;
  directory: string;
  random: Random;
  history: History;
  client: ExecServerClient;
  backend: RemoteBackend;
  mayBeLost(): boolean;
  codesOnly: boolean;
}

/** Starts one program, performs random operations on it, and checks the result once `finish` is called. */
export async function driveProcess(drive: Drive): Promise<{ file: string; finish(): Promise<ProcessRecord> }> {
  const { random, history, name } = drive;
  const program = createProgram(random.fork("program"));
  const file = join(drive.directory, name);
  const script = new ProcessScript(drive, program);
  history.note(`${name}: start ${program.name}`);
  await inTime(history, `${name}: its script`, LONGEST_MS, script.run(file));
  return { file, finish: () => script.finish() };
}

class ProcessScript {
  readonly #drive: Drive;
  readonly #random: Random;
  readonly #program: Program;
  readonly #lines: { text: string; accepted: boolean }[] = [];
  readonly #signals = { sent: 0, answered: 0 };
  readonly #resizes = { sizes: [] as string[], oneByOne: true };
  #start: ProcessRecord["start"] = "unknown";
  #process: RemoteProcess | undefined;
  #ended = false;
  #left = false;
  #followed: { bytes: Buffer[]; done: Promise<void> } | undefined;

  constructor(drive: Drive, program: Program) {
    this.#drive = drive;
    this.#random = drive.random.fork("script");
    this.#program = program;
  }

  async run(file: string): Promise<void> {
    const process = await this.#startProcess(file);
    if (process === undefined) return;
    if (this.#program.ends && this.#random.chance(0.5)) this.#follow(process);
    if (this.#program.takes === "lines") await this.#writeLines(process);
    if (this.#program.takes === "signals") await this.#sendSignals(process);
    if (this.#program.takes === "resizes") await this.#resize(process);
    const choice = this.#random.between(1, 10);
    if (choice <= 2) {
      // Not ended: the end of the connection ends the process.
      this.#ended = true;
      this.#left = true;
      return;
    }
    if (!this.#program.ends || choice === 3) await this.#end(process);
    await process.closed;
    await this.#followed?.done;
  }

  async finish(): Promise<ProcessRecord> {
    const { name, codesOnly, mayBeLost } = this.#drive;
    const process = this.#process;
    const { chunks, evicted } = process === undefined ? { chunks: [], evicted: [] } : await process.log.read(0);
    const record: ProcessRecord = {
      name: `${name} (${this.#program.name})`,
      program: this.#program,
      outcome: process?.outcome,
      start: this.#start,
      closed: process?.log.complete === true,
      chunks,
      evicted,
      followed: this.#followed === undefined ? undefined : Buffer.concat(this.#followed.bytes),
      missing: process?.missing.length ?? 0,
      lines: this.#lines,
      signals: this.#signals,
      resizes: this.#resizes,
      ended: this.#ended,
      mayBeLost: mayBeLost() || this.#left,
      codesOnly,
    };
    process?.dispose();
    return record;
  }

  async #startProcess(file: string): Promise<RemoteProcess | undefined> {
    const { history, name, backend } = this.#drive;
    const { script, tty, stdin } = this.#program;
    const small = this.#program.ends && this.#random.chance(0.3);
    const log = { headBytes: 4_096, tailBytes: 4_096, spillBytes: this.#random.pick([0, 20_000, 4_000_000]) };
    try {
      this.#process = await backend.start({
        argv: ["/bin/sh", "-c", script],
        cwd: this.#drive.directory,
        env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", FILE: file },
        stdio: tty ? { kind: "pty" } : { kind: "pipe", stdin },
        ...(small && this.#program.output([]).stderr === "" ? { log } : {}),
      });
      this.#start = "started";
      history.note(`${name}: started`);
    } catch (error) {
      const isUnknown = error instanceof UnknownStartError;
      this.#start = isUnknown ? "unknown" : "refused";
      history.note(`${name}: start failed: ${String(error)}`);
      if (error instanceof StartError) history.fail(`${name} was refused: ${error.message}`);
      // Without a connection nothing was sent.
      else if (!isUnknown && !(error instanceof ClientError) && !(error instanceof ChannelError))
        history.fail(`${name} threw ${String(error)}`);
    }
    return this.#process;
  }

  #follow(process: RemoteProcess): void {
    const bytes: Buffer[] = [];
    const pauseEvery = this.#random.pick([0, 0, 3, 20]);
    const read = async () => {
      let count = 0;
      for await (const chunk of process.log.follow({ windowBytes: this.#random.pick([1_000, 100_000]) })) {
        bytes.push(Buffer.from(chunk.bytes));
        count += 1;
        if (pauseEvery > 0 && count % pauseEvery === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    this.#followed = { bytes, done: read() };
  }

  async #writeLines(process: RemoteProcess): Promise<void> {
    const { history, name } = this.#drive;
    if (this.#program.tty) await untilOutput(process, 1);
    const pending: Promise<void>[] = [];
    const count = this.#random.between(0, 12);
    for (let index = 0; index < count; index += 1) {
      const line = { text: `${index}${"x".repeat(this.#random.between(0, 150))}`, accepted: false };
      this.#lines.push(line);
      const write = process.write(Buffer.from(`${line.text}\n`)).then(
        () => {
          line.accepted = true;
        },
        (error: unknown) => {
          history.note(`${name}: line ${index} failed: ${String(error)}`);
          if (!(error instanceof WriteError)) history.fail(`${name}: a write threw ${String(error)}`);
        },
      );
      pending.push(write);
      if (this.#random.chance(0.5)) await write;
      if (this.#random.chance(0.2)) await untilOutput(process, 1);
    }
    await Promise.all(pending);
    if (!this.#random.chance(0.7)) return;
    await process.closeStdin().catch((error: unknown) => {
      history.note(`${name}: close stdin failed: ${String(error)}`);
      if (!(error instanceof ProcessError) && !(error instanceof ClientError))
        history.fail(`${name}: ${String(error)}`);
    });
    if (process.outcome.kind === "running" && !this.#drive.codesOnly && !this.#drive.mayBeLost()) await process.closed;
  }

  /** Sends signals one after the other, as the kernel merges pending ones. */
  async #sendSignals(process: RemoteProcess): Promise<void> {
    const { history, name } = this.#drive;
    await untilOutput(process, 1);
    for (let index = this.#random.between(0, 4); index > 0 && process.outcome.kind === "running"; index -= 1) {
      const before = process.log.end;
      this.#signals.sent += 1;
      try {
        await process.signal("SIGINT");
        this.#signals.answered += 1;
        history.note(`${name}: signal answered`);
        await untilOutput(process, before + 1);
      } catch (error) {
        history.note(`${name}: signal failed: ${String(error)}`);
        const isUnknown = error instanceof ProcessError && error.code === "unknown";
        if (!isUnknown && !(error instanceof ClientError)) history.fail(`${name}: a signal threw ${String(error)}`);
        // It may have arrived: another signal could be merged with it.
        return;
      }
    }
  }

  /** Resizes to rows and columns that the terminal never had. */
  async #resize(process: RemoteProcess): Promise<void> {
    const { history, name, codesOnly } = this.#drive;
    if (codesOnly) return; // Codex has no resizing
    await untilOutput(process, 1);
    this.#resizes.oneByOne = this.#random.chance(0.7);
    const resize = async (index: number, size: TerminalSize) => {
      try {
        await process.resize(size);
        return true;
      } catch (error) {
        history.note(`${name}: resize ${index} failed: ${String(error)}`);
        if (!(error instanceof ProcessError) && !(error instanceof ClientError))
          history.fail(`${name}: a resize threw ${String(error)}`);
        return false;
      }
    };
    const pending: Promise<boolean>[] = [];
    const count = this.#random.between(0, 6);
    for (let index = 0; index < count && process.outcome.kind === "running"; index += 1) {
      const before = process.log.end;
      const size = { rows: 30 + index, cols: 100 + index };
      this.#resizes.sizes.push(`${size.rows} ${size.cols}`);
      const resized = resize(index, size);
      pending.push(resized);
      if (!this.#resizes.oneByOne) continue;
      // A failed resize may have arrived: another one could coincide with it.
      if (!(await resized)) return;
      await untilOutput(process, before + 1);
    }
    await Promise.all(pending);
  }

  async #end(process: RemoteProcess): Promise<void> {
    const { history, name } = this.#drive;
    this.#ended = true;
    const graceMs = this.#random.pick([0, 200]);
    history.note(`${name}: terminate within ${graceMs} ms`);
    const receipt = await process.terminate({ graceMs });
    history.note(`${name}: terminate: ${JSON.stringify({ ...receipt, members: receipt.members?.length })}`);
    // A follower that lags behind receives the end later.
    const isUnknown = receipt.gone && receipt.outcome.kind === "running" && this.#followed === undefined;
    history.check(!isUnknown, () => `${name}: terminate reports it as gone and running`);
  }
}

/** Resolves once the output has at least `bytes` bytes, or the process has ended. */
async function untilOutput(process: RemoteProcess, bytes: number): Promise<void> {
  const abort = new AbortController();
  await Promise.race([process.log.waitFor(bytes - 1, abort.signal), process.closed]);
  abort.abort();
}
