import type { ResourceLimits } from "@codex/executor-protocol";
import type { Logger } from "@codex/telemetry";
import { defined, parseByteSize } from "@codex/values";
import { CommandError, SERVER_EXIT } from "./command-error.js";

/** Options for what each session may use. */
export interface LimitArguments {
  /** Bytes, with K, M, G or T. */
  limitMemory?: string;
  limitCpus?: string;
  limitProcesses?: string;
  limitOpenFiles?: string;
  /** Bytes, with K, M, G or T. */
  limitDisk?: string;
  /** Seconds. */
  limitTime?: string;
}

/**
 * The limits of each session that the options specify; undefined for none. What can be held in part only is logged.
 * @throws CommandError for a value that is none, and for a limit that this host cannot hold
 */
export async function readLimits(
  options: LimitArguments,
  log: Pick<Logger, "warn">,
): Promise<ResourceLimits | undefined> {
  const size = (flag: string, text: string | undefined) =>
    read(flag, text, parseByteSize, "a size of at least 1 byte, such as 512M or 2G");
  const count = (flag: string, text: string | undefined, what: string) =>
    read(flag, text, parseCount, `a number of ${what} of at least 1`);
  const limits: ResourceLimits = defined({
    memory: size("--limit-memory", options.limitMemory),
    cpus: read("--limit-cpus", options.limitCpus, parseCpus, "a number of processors above 0, such as 0.5 or 2"),
    processes: count("--limit-processes", options.limitProcesses, "processes"),
    openFiles: count("--limit-open-files", options.limitOpenFiles, "files"),
    disk: size("--limit-disk", options.limitDisk),
    time: count("--limit-time", options.limitTime, "seconds"),
  });
  if (Object.keys(limits).length === 0) return undefined;
  const { checkLimits } = await import("@codex/process-host/resources");
  const { problem, lesser } = checkLimits(limits);
  if (problem !== undefined) throw new CommandError(problem, SERVER_EXIT.usage);
  for (const sentence of lesser) log.warn?.("a limit is held in part", { reason: sentence });
  return limits;
}

function read(flag: string, text: string | undefined, parse: (text: string) => number | undefined, expected: string) {
  if (text === undefined) return undefined;
  const value = parse(text);
  if (value !== undefined) return value;
  throw new CommandError(`${flag} ${JSON.stringify(text)}: expected ${expected}`, SERVER_EXIT.usage);
}

const parseCount = (text: string): number | undefined => (/^[1-9]\d{0,9}$/.test(text) ? Number(text) : undefined);

function parseCpus(text: string): number | undefined {
  const value = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  return value > 0 ? value : undefined;
}
