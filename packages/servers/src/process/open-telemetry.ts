import {
  createLineLogger,
  createLogFileSink,
  createRegistry,
  escapeForTerminal,
  LOG_FORMATS,
  LOG_LEVELS,
  type Logger,
  type LogLevel,
  type LogSink,
  METRICS_CONTENT_TYPE,
  observeProcess,
  type Registry,
  renderMetrics,
  silentLogger,
  type Telemetry,
  type Tracing,
} from "@codex/telemetry";
import { defined, messageOf } from "@codex/values";
import { CommandError, SERVER_EXIT } from "./command-error.js";
import { openStderrSink } from "./host-process.js";
import { VERSION } from "./version.js";

/** Options for logs and metrics, as on the command line. */
export interface TelemetryArguments {
  logLevel?: string;
  logFile?: string;
  logFormat?: string;
  metrics?: boolean;
  /** Bytes at which a log file becomes `<path>.1`; default: 64 MiB. */
  maxLogBytes?: number;
}

/** Logs, metrics and spans of a server; its owner closes it. */
export interface OpenedTelemetry extends Telemetry {
  log: Logger;
  /** HTTP pages of a listener; undefined unless metrics were requested. */
  pages: ReadonlyMap<string, () => { contentType: string; body: string }> | undefined;
  /** Flushes pending records. Never rejects. */
  close(): Promise<void>;
}

/**
 * Opens logs, metrics and spans of a serving command by its options and `CODEX_LOG`. `role` is the name of the command.
 * @throws CommandError for an unknown level or format, or a file that cannot be opened
 */
export async function openTelemetry(
  role: string,
  options: TelemetryArguments,
  isSocket: boolean,
): Promise<OpenedTelemetry> {
  if (options.metrics && !isSocket) {
    throw new CommandError(
      "--metrics needs a websocket listener: over stdio they could not be read",
      SERVER_EXIT.usage,
    );
  }
  const { log, sink } = openLog(options);
  const { metrics, tracing, stop } = await openMetrics(role, options.metrics === true, log);
  return {
    log,
    metrics,
    tracing,
    pages: metrics === undefined || !options.metrics ? undefined : new Map([["/metrics", () => renderPage(metrics)]]),
    async close() {
      stop();
      await sink.close();
    },
  };
}

function renderPage(metrics: Registry) {
  return { contentType: METRICS_CONTENT_TYPE, body: renderMetrics(metrics) };
}

function openLog({ logLevel, logFile, logFormat, maxLogBytes }: TelemetryArguments): { log: Logger; sink: LogSink } {
  const level = readLevel(logLevel, logFile === undefined ? "warn" : "info");
  const format = pick("--log-format", logFormat ?? (logFile === undefined ? "text" : "json"), LOG_FORMATS);
  if (level === "off") return { log: silentLogger, sink: { write() {}, close: async () => {} } };
  const sink = logFile === undefined ? openStderrSink(format) : openFile(logFile, format, maxLogBytes);
  return { log: createLineLogger({ level, format, sink }), sink };
}

function readLevel(flag: string | undefined, fallback: LogLevel): LogLevel | "off" {
  if (flag !== undefined) return pick("--log-level", flag, LEVELS);
  const variable = process.env.CODEX_LOG;
  return variable ? pick("CODEX_LOG", variable, LEVELS) : fallback;
}

const LEVELS = ["off", ...LOG_LEVELS] as const;

function pick<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new CommandError(`${name} ${JSON.stringify(text)}: expected ${choices.join(", ")}`, SERVER_EXIT.usage);
}

function openFile(path: string, format: (typeof LOG_FORMATS)[number], maxBytes?: number): LogSink {
  try {
    const onProblem = (message: string) => void process.stderr.write(`codex: ${escapeForTerminal(message)}\n`);
    return createLogFileSink(path, { format, onProblem, ...defined({ maxBytes }) });
  } catch (error) {
    throw new CommandError(`--log-file: ${messageOf(error)}`, SERVER_EXIT.failure);
  }
}

async function openMetrics(role: string, asked: boolean, log: Logger) {
  const api = await loadOpenTelemetry(log);
  if (!asked && api === undefined) return { metrics: undefined, tracing: undefined, stop: () => {} };
  const metrics = createRegistry();
  observeProcess(metrics, { version: VERSION, role });
  const tracing: Tracing | undefined = api?.createTracing();
  return { metrics, tracing, stop: api?.observeRegistry(metrics) ?? (() => {}) };
}

/** Loaded only when an SDK was registered before this command, as with `NODE_OPTIONS="--import …"`. */
async function loadOpenTelemetry(log: Logger) {
  if (!Reflect.has(globalThis, Symbol.for("opentelemetry.js.api.1"))) return undefined;
  try {
    return await import("@codex/telemetry/opentelemetry");
  } catch {
    log.warn?.("no spans: @opentelemetry/api is not installed next to this command");
    return undefined;
  }
}
