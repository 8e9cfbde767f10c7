import * as z from "zod/mini";

const positive = z.int().check(z.positive());

/** What a session may use, of a program and all that it starts. Absent: no limit. */
export const resourceLimitsSchema = z.object({
  /** Bytes of memory. */
  memory: z.optional(positive),
  /** Processors, such as 0.5 or 2. */
  cpus: z.optional(z.number().check(z.positive())),
  /** Processes and threads. */
  processes: z.optional(positive),
  /** Open files of each process. */
  openFiles: z.optional(positive),
  /** Bytes written to disk, and bytes of each file. */
  disk: z.optional(positive),
  /** Seconds from its start. */
  time: z.optional(positive),
});
/** What a session may use, of a program and all that it starts. */
export type ResourceLimits = z.infer<typeof resourceLimitsSchema>;

/** The name of a limit. */
export type LimitName = keyof ResourceLimits;

/** A limit that a session has reached. */
export const reachedLimitSchema = z.object({
  name: z.enum(["memory", "cpus", "processes", "openFiles", "disk", "time"]),
  /** In the unit of `ResourceLimits`. */
  value: z.number(),
  /** How often a program was killed, or a process not started. */
  times: z.optional(z.number()),
  /** For how long processors were held back. */
  seconds: z.optional(z.number()),
});
/** A limit that a session has reached. */
export type ReachedLimit = z.infer<typeof reachedLimitSchema>;

/** What a session uses at this moment, or has used. */
export const resourceUseSchema = z.object({
  /** Bytes. */
  memory: z.optional(z.number()),
  /** Seconds of processors. */
  cpuTime: z.optional(z.number()),
  processes: z.optional(z.number()),
  /** Bytes written to disk. */
  disk: z.optional(z.number()),
});
/** What a session uses at this moment, or has used. */
export type ResourceUse = z.infer<typeof resourceUseSchema>;

/** The stricter of two limits, for each resource. */
export function strictest(one: ResourceLimits, other: ResourceLimits): ResourceLimits {
  const limits: ResourceLimits = { ...one };
  for (const [name, value] of Object.entries(other) as [LimitName, number | undefined][]) {
    if (value !== undefined) limits[name] = Math.min(value, limits[name] ?? value);
  }
  return limits;
}

/** A limit in words, such as `memory limit of 2 GiB`. */
export function describeLimit({ name, value }: ReachedLimit): string {
  switch (name) {
    case "memory":
      return `memory limit of ${formatSize(value)}`;
    case "disk":
      return `limit of ${formatSize(value)} written to disk`;
    case "time":
      return `time limit of ${value} s`;
    case "cpus":
      return `limit of ${value} ${value === 1 ? "processor" : "processors"}`;
    case "openFiles":
      return `limit of ${value} open files`;
    case "processes":
      return `limit of ${value} processes`;
  }
}

/** A limit that was reached and what that did, as a sentence without an end. */
export function describeReached(reached: ReachedLimit): string {
  const { name, times = 1, seconds = 0 } = reached;
  const effects: Readonly<Record<LimitName, string>> = {
    memory: `${times} of its programs ${times === 1 ? "was" : "were"} killed`,
    processes: `${times} ${times === 1 ? "process was" : "processes were"} not started`,
    cpus: `it was held back for ${seconds.toFixed(1)} s`,
    time: "it was asked to end",
    disk: "it was ended",
    openFiles: "a file was not opened",
  };
  return `its ${describeLimit(reached)} was reached: ${effects[name]}`;
}

/** What is used, in words. */
export function describeUse({ memory, cpuTime, processes, disk }: ResourceUse): string[] {
  return [
    ...(memory === undefined ? [] : [`${formatSize(memory)} of memory`]),
    ...(cpuTime === undefined ? [] : [`${cpuTime.toFixed(1)} s of processors`]),
    ...(processes === undefined ? [] : [`${processes} ${processes === 1 ? "process" : "processes"}`]),
    ...(disk === undefined || disk === 0 ? [] : [`${formatSize(disk)} written`]),
  ];
}

/** Bytes in the largest unit that needs at most one decimal: `1.5 GiB`. */
export function formatSize(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)} ${UNITS[unit]}`;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];
