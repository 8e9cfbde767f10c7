import { setImmediate } from "node:timers/promises";
import { findMessage } from "@codex/channel";
import { type Clock, systemClock, waitAtMost } from "@codex/clock";
import {
  CORE_NAMES,
  createEnvironment,
  type ExecBackend,
  type ExecProcess,
  type ProcessSpec,
} from "@codex/exec-backend";
import type { EnvPolicy, ProcessOutcome } from "@codex/executor-protocol";
import { messageOf, toError } from "@codex/values";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { CLOSE_GRACE_MS, DRAIN_MS, MAX_MESSAGE_BYTES, OUTPUT_TAIL_BYTES, TERMINATE_GRACE_MS } from "../limits.js";
import { Lines } from "./lines.js";
import { createFilter } from "./secrets.js";
import { StderrTail } from "./stderr-tail.js";

/** An MCP server that communicates over its stdin and stdout. */
export interface StdioServer {
  /** Program, looked up in the `PATH` of its host unless it has a slash. */
  command: string;
  args?: readonly string[];
  /** Added to the core variables of its host; nothing else is passed. */
  env?: Readonly<Record<string, string>>;
  /** Names of further variables of its host to pass. */
  hostVariables?: readonly string[];
  /** Absolute directory on its host. */
  cwd: string;
}

/** What a transport uses of a program. */
export interface StdioProcess extends Pick<ExecProcess, "write" | "closeStdin" | "dispose"> {
  readonly outcome: ProcessOutcome;
  readonly exited: Promise<unknown>;
  readonly closed: Promise<unknown>;
  readonly log: { follow(): AsyncIterable<{ stream: string; offset: number; bytes: Uint8Array }> };
  terminate(options: { graceMs: number }): Promise<unknown>;
}

/** Dependencies of a `StdioTransport`. */
export interface StdioTransportOptions {
  /** Starts the program. Owned by the caller. */
  backend: Pick<ExecBackend, "appliesEnvPolicy"> & {
    /** `signal` aborts when the transport is closed before the program runs. */
    start(spec: ProcessSpec, signal: AbortSignal): Promise<StdioProcess>;
  };
  /** Called with the stderr of the program as it arrives. */
  onStderr?: (bytes: Uint8Array) => void;
  /** Variables of the host, for a backend that applies no policy itself. Default: those of this process. */
  hostEnv?: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
}

/**
 * A transport for the official MCP client over a program of any `ExecBackend`, on pipes and without a terminal. A lost and
 * resumed connection to the host does not affect it. `onerror` gets the reason of an unexpected exit, before `onclose`.
 * `close` closes stdin, waits 2 s, terminates the program and then kills it, with all processes that it started.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #server: StdioServer;
  readonly #options: StdioTransportOptions;
  readonly #stderr: StderrTail;
  readonly #abort = new AbortController();
  #starting: Promise<StdioProcess> | undefined;
  #process: StdioProcess | undefined;
  /** Resolves when its output is no longer read, at the end or earlier. */
  #drained: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isOver = false;
  /** The first message was received. */
  #hasBegun = false;

  constructor(server: StdioServer, options: StdioTransportOptions) {
    this.#server = server;
    this.#stderr = new StderrTail(createFilter(Object.values(server.env ?? {})));
    this.#options = options;
  }

  /** How the program ended; undefined before it was started. */
  get outcome(): ProcessOutcome | undefined {
    return this.#process?.outcome;
  }

  /** The last 8 KiB of its stderr, without the values of `env`. */
  get stderr(): string {
    return this.#stderr.text;
  }

  /** Starts the program. @throws what the backend throws, such as a StartError; also passed to `onerror` */
  async start(): Promise<void> {
    if (this.#starting !== undefined) throw new Error("the transport of an MCP server can be started only once");
    if (this.#closing !== undefined) throw new Error("the transport of an MCP server was closed before it was started");
    try {
      this.#starting = this.#options.backend.start(this.#createSpec(), this.#abort.signal);
      this.#process = await this.#starting;
    } catch (error) {
      this.#end(toError(error));
      throw error;
    }
    const program = this.#process;
    const reading = this.#read(program);
    this.#drained = reading.then(() => {});
    void reading.then((problem) => this.#finish(program, problem));
  }

  /** Resolves when the message is written. @throws RangeError above 10 MiB; WriteError when the program no longer reads */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(message)}\n`, "utf8");
    if (line.length > MAX_MESSAGE_BYTES) {
      throw new RangeError(`a message of ${line.length} bytes is over the limit of ${MAX_MESSAGE_BYTES} bytes`);
    }
    if (this.#process === undefined || this.#closing !== undefined) throw new Error("the MCP server is not running");
    const program = this.#process;
    try {
      await program.write(line);
    } catch (error) {
      // The exit reason is more specific; it is known once the remaining output is read.
      await waitAtMost(this.#options.clock ?? systemClock, DRAIN_MS, program.closed);
      throw program.outcome.kind === "running" ? error : new Error(this.#describeEnd(program), { cause: error });
    }
  }

  /** Ends the program. Resolves when none of its processes is left. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #createSpec(): ProcessSpec {
    const { command, args = [], env = {}, cwd } = this.#server;
    const { backend, hostEnv = process.env } = this.#options;
    const envPolicy = createEnvPolicy(this.#server);
    return {
      argv: [command, ...args],
      cwd,
      ...(backend.appliesEnvPolicy ? { env: { ...env }, envPolicy } : { env: createEnvironment(envPolicy, hostEnv) }),
      stdio: { kind: "pipe", stdin: "open" },
      log: { headBytes: 0, tailBytes: OUTPUT_TAIL_BYTES, spillBytes: 0 },
    };
  }

  /** Reads to the end. Never rejects: resolves with the reason if it stopped early. */
  async #read(program: StdioProcess): Promise<Error | undefined> {
    const lines = new Lines();
    let expected = 0;
    try {
      for await (const { stream, offset, bytes } of program.log.follow()) {
        if (offset !== expected) throw new Error(`${offset - expected} bytes of its output are lost`);
        expected = offset + bytes.length;
        if (this.#isOver) return undefined;
        if (stream === "stderr") this.#takeStderr(bytes);
        // Nobody waits for a message of a server that is being closed; it may write without end.
        else if (this.#closing === undefined) {
          for (const line of lines.take(bytes)) {
            if (this.#closing !== undefined) break;
            this.#takeLine(line);
            // The client handles a notification later than a response: the result must not overtake progress.
            await setImmediate();
          }
        }
      }
      return undefined;
    } catch (error) {
      return toError(error);
    }
  }

  async #finish(program: StdioProcess, problem: Error | undefined): Promise<void> {
    if (problem === undefined && this.#closing === undefined) await program.exited;
    if (this.#closing === undefined) {
      this.onerror?.(new Error(problem === undefined ? this.#describeEnd(program) : messageOf(problem)));
    }
    await this.close();
  }

  #takeStderr(bytes: Uint8Array): void {
    this.#stderr.add(bytes);
    this.#options.onStderr?.(bytes);
  }

  #takeLine(line: string): void {
    if (line.trim() === "" || this.#isOver) return;
    const message = this.#parse(line);
    if (message === undefined) {
      this.onerror?.(new Error("the MCP server wrote a line to stdout that is not a JSON message"));
      return;
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.onerror?.(new Error("the MCP server wrote a line to stdout that is not a JSON-RPC message"));
  }

  /** The first message may follow text in its line, such as the title of a terminal or a prompt. */
  #parse(line: string): unknown {
    try {
      const message: unknown = JSON.parse(line);
      this.#hasBegun = true;
      return message;
    } catch {
      const found = this.#hasBegun ? undefined : findMessage(Buffer.from(line));
      this.#hasBegun ||= found !== undefined;
      return found?.value;
    }
  }

  #describeEnd({ outcome }: StdioProcess): string {
    const stderr = this.#stderr.quote();
    return `the MCP server ended: ${describeOutcome(outcome)}${stderr === "" ? "" : `; on stderr: ${stderr}`}`;
  }

  async #close(): Promise<void> {
    const { clock = systemClock } = this.#options;
    if (this.#process === undefined) this.#abort.abort();
    const program = await this.#starting?.catch(() => undefined);
    if (program !== undefined) {
      await program.closeStdin().catch(() => {});
      await waitAtMost(clock, CLOSE_GRACE_MS, program.exited);
      // Also after its exit: processes that it started may still run.
      await program.terminate({ graceMs: TERMINATE_GRACE_MS }).catch(() => {});
      // The last output may explain the exit.
      await waitAtMost(clock, DRAIN_MS, this.#drained);
      program.dispose();
    }
    this.#end(undefined);
  }

  /** Calls `onclose` once. */
  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error !== undefined) this.onerror?.(error);
    this.onclose?.();
  }
}

/** Core, named and configured variables. @throws RangeError for an invalid variable name */
function createEnvPolicy({ env = {}, hostVariables = [] }: StdioServer): EnvPolicy {
  const policy = { ignoreDefaultExcludes: false, exclude: [], set: { ...env }, includeOnly: [] };
  if (hostVariables.length === 0) return { ...policy, inherit: "core" };
  // A policy treats names as patterns.
  const wrong = hostVariables.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} is not a valid variable name`);
  const includeOnly = [...CORE_NAMES, ...hostVariables, ...Object.keys(env)];
  return { ...policy, inherit: "all", ignoreDefaultExcludes: true, includeOnly };
}

/** A minimal check; the client distinguishes and validates requests, notifications and responses itself. */
const isMessage = (value: unknown): value is JSONRPCMessage =>
  typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0";

function describeOutcome(outcome: ProcessOutcome): string {
  switch (outcome.kind) {
    case "running":
      return "it closed its output and was ended";
    case "exited":
      return `it exited with code ${outcome.code}`;
    case "signaled":
      return `it was killed by ${outcome.signal}`;
    case "failed_to_start":
      return `it could not be started: ${outcome.reason}`;
    case "lost":
      return `the connection to its host was lost: ${outcome.reason}. Whether it still runs is unknown`;
  }
}
