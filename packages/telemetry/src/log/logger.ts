/** Fields of a log line: ids, counts, names. Never arguments, environment or output of a command. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Logs one event: a short constant text, and fields that vary. Never secrets, arguments or output. */
export type LogWrite = (event: string, fields?: LogFields) => void;

/** The levels, most severe first. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;
/** The severity of an event. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * A method is undefined where its level is off: `log.debug?.("event", { … })` then does nothing, and the fields are not even
 * evaluated. Methods never throw. `console` is a `Logger`, too.
 */
export type Logger = { readonly [Level in LogLevel]?: LogWrite | undefined };

/** A logger with every level off. */
export const silentLogger: Logger = {};

/** @param write receives the events at this level or above */
export function createLogger(
  level: LogLevel,
  write: (level: LogLevel, event: string, fields: LogFields) => void,
): Logger {
  const enabled = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1);
  return Object.fromEntries(
    enabled.map((name): [LogLevel, LogWrite] => [name, (event, fields = {}) => write(name, event, fields)]),
  );
}

/** A logger that adds these fields to every line. */
export function withFields(logger: Logger, fields: LogFields): Logger {
  const enabled = LOG_LEVELS.flatMap((name): [LogLevel, LogWrite][] => {
    const write = logger[name];
    return write === undefined ? [] : [[name, (event, more) => write(event, { ...fields, ...more })]];
  });
  return Object.fromEntries(enabled);
}

/**
 * The fields of an error that may be logged: its class, its code and where it was created. Not its message, which may
 * contain arguments of a command.
 */
export function describeFault(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = "code" in error && typeof error.code !== "object" ? String(error.code) : undefined;
  const at = /^ {4}at (.+)$/m
    .exec(error.stack ?? "")?.[1]
    ?.split(/[/\\]/)
    .at(-1)
    ?.replace(/\)$/, "");
  return { error: error.name, code, at };
}
