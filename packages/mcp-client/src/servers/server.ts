import { type Clock, systemClock, waitAtMost, withDeadline } from "@codex/clock";
import type { ToolCallOutcome } from "@codex/executor-protocol";
import { defined, messageOf } from "@codex/values";
import type { Client, Progress, Tool } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../config/server-config.js";
import { END_SESSION_MS, MAX_SENTENCE_BYTES, RELIST_MS } from "../limits.js";
import type { CredentialStore } from "../oauth/credential-store.js";
import type { LibraryServer } from "../tools/library-tools.js";
import { toOutcome } from "../tools/result.js";
import { toSentence } from "../tools/text.js";
import { createFilter } from "../transports/secrets.js";
import { type AskPerson, answerQuestion, RequestLimits } from "./questions.js";
import { createServerTransport, type McpPlace, type ServerTransport } from "./server-transport.js";

/** `starting`: its tools are not listed yet. `failed`: it could not be started, or has ended. */
export type McpServerStatus = "starting" | "ready" | "failed" | "closed";

/** Dependencies of one server. */
export interface ServerOptions {
  getPlace(): Promise<McpPlace>;
  env: Readonly<Record<string, string | undefined>>;
  credentials?: CredentialStore | undefined;
  askPerson?: AskPerson | undefined;
  clock?: Clock | undefined;
  /** Called when its state or its tools have changed. */
  onChange(): void;
}

/** One MCP server. It is started once and never restarted. */
export class McpServer {
  readonly config: McpServerConfig;
  readonly #options: ServerOptions;
  readonly #clock: Clock;
  #status: McpServerStatus = "starting";
  #reason: string | undefined;
  #tools: readonly Tool[] = [];
  #client: Client | undefined;
  #opened: ServerTransport | undefined;
  /** The last error of the transport, more specific than that the connection is closed. */
  #lastError: string | undefined;
  readonly #limits: RequestLimits;
  #cancelRelist = () => {};
  #closing: Promise<void> | undefined;

  constructor(config: McpServerConfig, options: ServerOptions) {
    this.config = config;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#limits = new RequestLimits(this.#clock);
  }

  get status(): McpServerStatus {
    return this.#status;
  }

  /** Why it failed, without secrets. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** As last listed by the server. Kept after it has failed: calls then return the reason. */
  get tools(): readonly Tool[] {
    return this.#status === "closed" ? [] : this.#tools;
  }

  /** Starts it and lists its tools, within its time limit. Never rejects: `status` and `reason` have the outcome. */
  async start(signal: AbortSignal): Promise<void> {
    const { startupTimeoutMs: ms } = this.config;
    const createError = () => new Error(`it was not ready within ${ms / 1000} s`);
    try {
      await withDeadline({ clock: this.#clock, ms, createError, signal }, (deadline) => this.#open(deadline));
    } catch (error) {
      const isClosed = getCode(error) === "CONNECTION_CLOSED";
      this.#fail(isClosed ? (this.#lastError ?? messageOf(error)) : messageOf(error));
      await this.#release();
    }
  }

  /** Calls a tool by the server's own name. Never rejects: an error is an outcome. */
  async call(
    name: string,
    args: Record<string, unknown>,
    options: { signal?: AbortSignal; onProgress?: (line: string) => void },
  ): Promise<ToolCallOutcome> {
    const client = this.#client;
    if (this.#status !== "ready" || client === undefined) {
      return failed(
        `MCP server \`${this.config.name}\` is not running: ${this.#reason ?? this.#status}. Nothing was run.`,
      );
    }
    const { signal, onProgress } = options;
    const onprogress = onProgress && ((step: Progress) => onProgress(this.#hide(describeProgress(step))));
    try {
      return await this.#request(signal, async (request) => {
        return toOutcome(await client.callTool({ name, arguments: args }, { ...request, ...defined({ onprogress }) }));
      });
    } catch (error) {
      const { text, isCertain } = this.#describeFailure(`\`${toSentence(name, 100)}\``, error);
      return failed(isCertain ? text : `${text}. What the call did is unknown.`);
    }
  }

  /** What it has besides tools, once it is ready. */
  get library(): LibraryServer | undefined {
    const client = this.#client;
    const { resources, prompts } = client?.getServerCapabilities() ?? {};
    if (this.#status !== "ready" || client === undefined) return undefined;
    const read = async <T>(signal: AbortSignal, run: (request: Limited) => Promise<T>, what: string): Promise<T> => {
      try {
        return await this.#request(signal, run);
      } catch (error) {
        throw new Error(this.#describeFailure(what, error).text, { cause: error });
      }
    };
    const page = (cursor: string | undefined) => (cursor === undefined ? undefined : { cursor });
    return {
      config: this.config,
      offers: { resources: resources !== undefined, prompts: prompts !== undefined },
      listResources: (cursor, signal) =>
        read(signal, (how) => client.listResources(page(cursor), how), "the resources"),
      listResourceTemplates: (cursor, signal) =>
        read(signal, (how) => client.listResourceTemplates(page(cursor), how), "the templates"),
      readResource: (uri, signal) =>
        read(signal, (how) => client.readResource({ uri }, how), `\`${toSentence(uri, 200)}\``),
      listPrompts: (cursor, signal) => read(signal, (how) => client.listPrompts(page(cursor), how), "the prompts"),
      getPrompt: (name, args, signal) =>
        read(signal, (how) => client.getPrompt({ name, arguments: args }, how), `\`${toSentence(name, 100)}\``),
    };
  }

  /** Runs a request within the time limit of a call, which stands still while the person is asked. */
  async #request<T>(signal: AbortSignal | undefined, run: (request: Limited) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const end = this.#limits.start(this.config.toolTimeoutMs, () => late.abort(new LateError()));
    const ends = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      return await run({ timeout: MAX_TIMER_MS, signal: ends });
    } catch (error) {
      throw late.signal.aborted && signal?.aborted !== true ? late.signal.reason : error;
    } finally {
      end();
    }
  }

  /** Ends it. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#status = "closed";
    await this.#release();
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { askPerson } = this.#options;
    const place = await this.#options.getPlace();
    const { Client } = await import("@modelcontextprotocol/client");
    signal.throwIfAborted();
    this.#opened = await createServerTransport(this.config, place, this.#options);
    const onChanged = () => this.#relist();
    this.#client = new Client(
      { name: "codex-mcp-client", title: "Codex", version: "0.1.0" },
      {
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
        capabilities: askPerson === undefined ? {} : { elicitation: { form: {}, url: {} } },
      },
    );
    if (askPerson !== undefined) {
      this.#client.setRequestHandler("elicitation/create", (request, { mcpReq }) =>
        this.#limits.whileAsking(() => answerQuestion(this.config.name, request, askPerson, mcpReq.signal)),
      );
    }
    this.#client.onerror = ({ message }) => {
      this.#lastError = message;
    };
    this.#client.onclose = () => this.#fail(this.#lastError ?? "it closed the connection");
    signal.throwIfAborted();
    await this.#client.connect(this.#opened.transport, { signal, timeout: this.config.startupTimeoutMs });
    this.#tools = (await this.#client.listTools(undefined, { signal })).tools;
    signal.throwIfAborted();
    if (this.#closing !== undefined) return;
    this.#lastError = undefined;
    this.#status = "ready";
    this.#options.onChange();
  }

  #fail(reason: string): void {
    if (this.#status === "failed" || this.#status === "closed") return;
    this.#status = "failed";
    this.#reason = this.#hide(reason);
    this.#options.onChange();
  }

  async #release(): Promise<void> {
    this.#cancelRelist();
    const opened = this.#opened;
    if (opened !== undefined)
      await waitAtMost(
        this.#clock,
        END_SESSION_MS,
        opened.endSession().catch(() => {}),
      );
    await this.#client?.close().catch(() => {});
    await opened?.transport.close().catch(() => {});
  }

  #relist(): void {
    this.#cancelRelist();
    this.#cancelRelist = this.#clock.after(RELIST_MS, () => {
      void this.#client
        ?.listTools(undefined, { cacheMode: "refresh" })
        .then(({ tools }) => {
          this.#tools = tools;
          this.#options.onChange();
        })
        // The previous tools are kept.
        .catch(() => {});
    });
  }

  /** `isCertain`: the server has answered with an error, and nothing else is to be told of what it did. */
  #describeFailure(what: string, error: unknown): { text: string; isCertain: boolean } {
    const whose = `${what} of MCP server \`${this.config.name}\``;
    // A numeric code is an error response of the server.
    if (typeof getCode(error) === "number") {
      return { text: `${whose}: ${this.#hide(messageOf(error))}`, isCertain: true };
    }
    const reason =
      error instanceof LateError
        ? `it did not respond within ${this.config.toolTimeoutMs / 1000} s`
        : (this.#reason ?? this.#hide(messageOf(error)));
    return { text: `${whose}: ${reason}`, isCertain: false };
  }

  #hide(text: string): string {
    return toSentence(createFilter(this.#opened?.secrets ?? []).hide(text), MAX_SENTENCE_BYTES);
  }
}

/** The time limit of a request is over. */
class LateError extends Error {}

/** How a request is sent. */
interface Limited {
  timeout: number;
  signal: AbortSignal;
}

/** The longest timer of the official client; the limit of a request is held here. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const getCode = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "code" in error ? error.code : undefined;

const failed = (message: string): ToolCallOutcome => ({ status: "error", message });

const describeProgress = ({ progress, total, message }: Progress): string =>
  `${progress}${total === undefined ? "" : `/${total}`}${message === undefined ? "" : ` ${message}`}`;
