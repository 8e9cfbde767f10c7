import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connectWebSocket, createOrchestrator } from "@codex/orchestrator";
import { createRandom, type Random } from "../random.js";
import { checkProcess, type ProcessRecord } from "./check-process.js";
import type { DriveEvent } from "./drive-command.js";
import { findLeftOver, findMarked, readEffects } from "./effects.js";
import { History, inTime, LONGEST_MS } from "./history.js";
import { drawMoment, GONE_MS, LISTEN_COMMAND } from "./killed-targets.js";
import type { ChildMessage } from "./orchestrator-child.js";
import { type PeerServer, startPeerServer } from "./peer-server.js";
import { createProgram } from "./programs.js";
import type { RunResult } from "./run-result.js";

const KIND = "orchestrator-killed";
/** Time to resume at a listening executor, milliseconds. */
const GRACE_MS = 1_000;
// The compiled file, also when this file runs from the sources.
const CHILD = fileURLToPath(new URL("../../dist/faults/orchestrator-child.js", import.meta.url));

/** The orchestrator runs in a separate process, and gets SIGKILL; its executor ends the programs. Never rejects. */
export async function runOrchestratorKilled(seed: number): Promise<RunResult> {
  const history = new History();
  const random = createRandom(seed, KIND);
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  const choices = random.fork("target");
  const isStdio = choices.chance(0.5);
  const moment = drawMoment(choices);
  const processes = random.between(1, 4);
  const plan = [`${isStdio ? "stdio" : "websocket"}: the orchestrator is killed after ${moment} ms`];
  const run = new KilledRun({ seed, random, history, directory, processes });
  try {
    if (isStdio) await run.overStdio(moment);
    else await run.overSocket(moment);
    await run.check();
  } catch (error) {
    history.fail(`the run threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  rmSync(directory, { recursive: true, force: true });
  return { seed, kind: KIND, plan, processes, events: history.events, problems: history.problems };
}

interface RunContext {
  seed: number;
  random: Random;
  history: History;
  directory: string;
  processes: number;
}

class KilledRun {
  readonly #context: RunContext;
  readonly #events = new Map<string, DriveEvent[]>();

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** The executor is a child of the orchestrator, whose end closes its stdin. */
  async overStdio(moment: number): Promise<void> {
    await this.#killAfter(moment, []);
    await this.#checkGone(GONE_MS);
  }

  /** The executor keeps running and serving others, and keeps the programs until the time to resume is over. */
  async overSocket(moment: number): Promise<void> {
    const server = await startPeerServer(`${LISTEN_COMMAND} --resume-grace ${GRACE_MS / 1000}`);
    try {
      await this.#killAfter(moment, [server.url]);
      await this.#checkGone(GRACE_MS + GONE_MS);
      await this.#checkServes(server);
    } finally {
      await server.close();
    }
  }

  /** Checks the programs against the steps that the orchestrator reported before it was killed. */
  async check(): Promise<void> {
    const { history, directory, processes } = this.#context;
    for (let index = 1; index <= processes; index += 1) {
      const file = join(directory, `p${index}`);
      const left = await findLeftOver(readEffects(file).pids, GONE_MS);
      history.check(left.length === 0, () => `p${index} was left running: group ${left.join()}`);
      checkProcess(this.#record(index), readEffects(file), history);
    }
  }

  async #killAfter(moment: number, address: readonly string[]): Promise<void> {
    const { seed, history, directory, processes } = this.#context;
    const args = [CHILD, String(seed), KIND, directory, String(processes), ...address];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    const read = this.#read(child);
    await inTime(history, "attaching", LONGEST_MS, Promise.race([read.attached, exited]));
    await sleep(moment);
    history.check(child.exitCode === null, () => `the orchestrator exited on its own with ${child.exitCode}`);
    child.kill("SIGKILL");
    history.note("orchestrator: killed");
    await inTime(history, "the exit of the orchestrator", LONGEST_MS, exited);
    await inTime(history, "the end of what the orchestrator reported", LONGEST_MS, read.done);
    child.stdout.destroy();
  }

  #read(child: ChildProcessByStdio<null, Readable, null>): { attached: Promise<void>; done: Promise<unknown> } {
    const lines = createInterface({ input: child.stdout });
    const attached = new Promise<void>((resolve) => {
      lines.on("line", (line) => {
        const message = parse(line);
        if (message === undefined) this.#context.history.note(`orchestrator: killed while it reported ${line}`);
        else if (message.kind === "attached") resolve();
        else if (message.kind === "note") this.#context.history.note(message.text);
        else this.#events.set(message.name, [...(this.#events.get(message.name) ?? []), message.event]);
      });
    });
    return { attached, done: once(lines, "close") };
  }

  async #checkGone(ms: number): Promise<void> {
    const { history, directory } = this.#context;
    const left = await findMarked(directory, ms);
    history.check(left.length === 0, () => `after ${ms} ms still runs: ${left.join("; ")}`);
    history.note("executor: everything is gone");
  }

  async #checkServes({ url }: PeerServer): Promise<void> {
    const { history } = this.#context;
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    const attached = orchestrator.attach({ name: "main", channel: connectWebSocket(url) });
    if ((await inTime(history, "attaching another orchestrator", LONGEST_MS, attached)) === undefined) return;
    const request = { argv: ["true"], env: { PATH: "/usr/bin:/bin" }, tty: false };
    const command = orchestrator.runCommand(request, { onOutput() {} });
    const end = await inTime(history, "a program of another orchestrator", LONGEST_MS, command.ended);
    const isRight = end?.kind === "ended" && end.exitCode === 0;
    history.check(isRight, () => `a program of another orchestrator: ${JSON.stringify(end)}`);
    await inTime(history, "closing another orchestrator", LONGEST_MS, orchestrator.close());
  }

  #record(index: number): ProcessRecord {
    const name = `p${index}`;
    const program = createProgram(this.#context.random.fork(`process ${index}`).fork("program"));
    const events = this.#events.get(name) ?? [];
    const end = events.find((event) => event.kind === "ended")?.end;
    return {
      name: `${name} (${program.name})`,
      program,
      outcome: end?.kind === "ended" ? end.outcome : undefined,
      start: end?.kind === "ended" ? "started" : end?.kind === "refused" ? "refused" : "unknown",
      closed: false,
      chunks: [],
      evicted: [],
      followed: undefined,
      missing: 0,
      lines: events.flatMap((event) => (event.kind === "line" ? [{ text: event.text, accepted: false }] : [])),
      signals: { sent: events.filter(({ kind }) => kind === "signal").length, answered: 0 },
      resizes: {
        sizes: events.flatMap((event) => (event.kind === "resize" ? [event.size] : [])),
        oneByOne: false,
      },
      ended: events.some(({ kind }) => kind === "end"),
      mayBeLost: false,
      codesOnly: false,
    };
  }
}

/** Undefined for an incomplete line, whose writer was killed. */
function parse(line: string): ChildMessage | undefined {
  try {
    return JSON.parse(line) as ChildMessage; // of our own making
  } catch {
    return undefined;
  }
}
