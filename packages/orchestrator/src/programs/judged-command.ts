import type { CommandFollower, RunOutcome, SplitOutput } from "@codex/executor-client/programs";
import type { SessionSignal, TerminalSize } from "@codex/executor-protocol";
import { OrchestratorError } from "../errors.js";
import type { RefusedCall } from "../result.js";
import type { CommandStart, StartedCommand } from "./started-command.js";

/** The result of starting a program. Without a follower it does not run. */
export interface Started {
  start: CommandStart;
  follower?: CommandFollower;
  /** Set for a shell: decides whether a line may be typed into it. */
  refuseInput?: (text: string, isEnd: boolean) => Promise<RefusedCall | undefined>;
}

/** The handle of a program that is being judged, then started. Operations before that wait. */
export class JudgedCommand implements StartedCommand {
  readonly started: Promise<CommandStart>;
  readonly #starting: Promise<Started>;
  readonly #output: SplitOutput;
  readonly #ended: Promise<RunOutcome>;
  readonly #decoder = new TextDecoder();
  /** Settles when the previous input was written: judging must not change its order. */
  #input: Promise<unknown> = Promise.resolve();

  /** @param starting never rejects */
  constructor(starting: Promise<Started>, output: SplitOutput, signal: AbortSignal | undefined) {
    this.#starting = starting;
    this.#output = output;
    this.started = starting.then(({ start }) => start);
    this.#ended = starting.then(({ start, follower }) => follower?.ended ?? toOutcome(start));
    const stopHolding = () => output.stopHolding("never");
    signal?.addEventListener("abort", stopHolding, { once: true });
    void this.#ended.then(() => {
      signal?.removeEventListener("abort", stopHolding);
      output.end();
    });
  }

  get output() {
    return this.#output.all;
  }

  get stdout() {
    return this.#output.stdout;
  }

  get stderr() {
    return this.#output.stderr;
  }

  get ended(): Promise<RunOutcome> {
    this.#output.stopHolding("while read");
    return this.#ended;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#type(bytes, (follower) => follower.write(bytes));
  }

  closeStdin(): Promise<void> {
    return this.#type(undefined, (follower) => follower.closeStdin());
  }

  async resize(size: TerminalSize): Promise<void> {
    const { follower } = await this.#running();
    return follower.resize(size);
  }

  async signal(name: SessionSignal): Promise<void> {
    const { follower } = await this.#running();
    return follower.signal(name);
  }

  /** Writes inputs one at a time. @param bytes undefined for the end of the input */
  #type(bytes: Uint8Array | undefined, write: (follower: CommandFollower) => Promise<void>): Promise<void> {
    const written = this.#input.then(async () => {
      const started = await this.#running();
      await this.#judge(bytes, started);
      return write(started.follower);
    });
    this.#input = written.catch(() => {});
    return written;
  }

  /** @throws OrchestratorError `refused` */
  async #judge(bytes: Uint8Array | undefined, { refuseInput }: Started): Promise<void> {
    if (refuseInput === undefined) return;
    const isEnd = bytes === undefined;
    const refused = await refuseInput(this.#decoder.decode(bytes, { stream: !isEnd }), isEnd);
    if (refused !== undefined) throw new OrchestratorError("refused", refused.text);
  }

  /** @throws OrchestratorError `not_running` */
  async #running(): Promise<Started & { follower: CommandFollower }> {
    const started = await this.#starting;
    const { follower, start } = started;
    if (follower !== undefined) return { ...started, follower };
    throw new OrchestratorError("not_running", `the program was not started: ${reasonOf(start)}`);
  }
}

function toOutcome(start: CommandStart): RunOutcome {
  if (start.kind !== "refused") return { kind: "lost", reason: reasonOf(start) };
  const { code } = start.result.structured;
  return { kind: "refused", reason: reasonOf(start), code };
}

const reasonOf = (start: CommandStart): string =>
  start.kind === "refused" ? start.result.text : start.kind === "started" ? "" : start.reason;
