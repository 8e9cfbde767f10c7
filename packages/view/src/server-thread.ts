import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { messageOf } from "@codex/values";
import { CLOSE_MS, MAX_RESTARTS, SERVER_HEAP_MIB } from "./limits.js";
import { addAdmission, addToken } from "./wire/bounded.js";
import type { Admission, FromServer, ServerOptions, Token, ToServer } from "./wire/port.js";

/** Interval of a timer that only keeps the process alive, milliseconds. */
const HOLD_MS = 60_000;

/** The directory of this package, which a bundle needs beside it. By a `require` that bundlers do not recognize. */
function findPackage(): string {
  const here = typeof __filename === "string" ? __filename : import.meta.url; // the former in a CommonJS bundle
  return dirname(process.getBuiltinModule("node:module").createRequire(here).resolve("@codex/view/package.json"));
}

/** Events of the server. */
export interface ServerEvents {
  receive(message: FromServer): void;
  /** It was restarted, without the published entities. */
  restarted(): void;
  /** It failed too often and is not restarted; only the view is affected. */
  failed(problem: string): void;
}

/** The server of a view in its own thread, so that a crash or lack of memory there does not harm the program. */
export class ServerThread {
  readonly #options: Omit<ServerOptions, "files" | "admitted" | "tokens">;
  readonly #events: ServerEvents;
  readonly #admitted = new Map<string, Admission>();
  readonly #tokens = new Map<string, Token>();
  #worker: Worker | undefined;
  #port = 0;
  #restarts = 0;
  #isClosing = false;

  constructor(options: Omit<ServerOptions, "files" | "admitted" | "tokens">, events: ServerEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Resolves with the port. @throws Error naming the address and why it cannot be bound */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      const worker = this.#spawn();
      const onMessage = (message: FromServer) => {
        if (message.type === "listening") {
          worker.off("message", onMessage);
          worker.unref();
          this.#port = message.port;
          resolve(message.port);
        } else if (message.type === "failed") {
          this.#isClosing = true;
          void worker.terminate();
          const { host, port } = this.#options;
          reject(new Error(`the view cannot listen at ${host}, port ${port}: ${message.message}`));
        }
      };
      worker.on("message", onMessage);
      worker.once("error", reject);
    });
  }

  addToken(token: Token): void {
    addToken(this.#tokens, token);
    this.send({ type: "token", token });
  }

  send(message: ToServer): void {
    const frame = message.type === "output" ? message.part?.frame : undefined;
    this.#worker?.postMessage(message, frame === undefined ? [] : [frame.buffer]);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.ref();
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.postMessage({ type: "close" } satisfies ToServer);
    const timer = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Keeps the process alive until the returned function is called. */
  hold(): () => void {
    const timer = setInterval(() => {}, HOLD_MS);
    return () => clearInterval(timer);
  }

  /** For tests: crashes the server. */
  kill(): void {
    void this.#worker?.terminate();
  }

  #spawn(): Worker {
    const directory = findPackage();
    const options: ServerOptions = {
      ...this.#options,
      port: this.#port === 0 ? this.#options.port : this.#port,
      files: `${join(directory, "dist/page")}/`,
      admitted: [...this.#admitted.values()],
      tokens: [...this.#tokens.values()],
    };
    const worker = new Worker(join(directory, "dist/server/worker.js"), {
      workerData: options,
      resourceLimits: { maxOldGenerationSizeMb: SERVER_HEAP_MIB },
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    let problem = "its thread has ended";
    worker.on("message", (message: FromServer) => this.#receive(message));
    worker.on("error", (error) => {
      problem = messageOf(error);
    });
    worker.once("exit", () => this.#ended(worker, problem));
    if (this.#port !== 0) worker.unref();
    this.#worker = worker;
    return worker;
  }

  #receive(message: FromServer): void {
    if (message.type === "admitted") {
      addAdmission(this.#admitted, message.admission);
      this.#tokens.delete(message.tokenHash);
    } else if (message.type === "token") addToken(this.#tokens, message.token);
    this.#events.receive(message);
  }

  #ended(worker: Worker, problem: string): void {
    if (this.#isClosing || this.#worker !== worker) return;
    this.#worker = undefined;
    if (this.#port === 0 || this.#restarts >= MAX_RESTARTS) return this.#events.failed(problem);
    this.#restarts += 1;
    this.#spawn();
    this.#events.restarted();
  }
}
