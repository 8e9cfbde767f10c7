import { StartError } from "@codex/exec-backend";
import {
  describeLimit,
  type LimitName,
  type ResourceLimits,
  type ResourceUse,
  strictest,
} from "@codex/executor-protocol";
import { messageOf } from "@codex/values";
import { type ControlGroup, type ControlGroups, openControlGroups } from "./control-groups.js";
import { SessionResources, sumUse } from "./session-resources.js";

/** How this host holds limits. */
export interface LimitSupport {
  /** What can only be held in part, and how. */
  readonly lesser: readonly { readonly name: LimitName; readonly sentence: string }[];
  /** Limits that cannot be held, with the reason as the end of a sentence. */
  readonly missing: ReadonlyMap<LimitName, string>;
  /** Version of the control groups that are used; undefined without. */
  readonly groups: 1 | 2 | undefined;
}

/** Prepares the limits of processes: those of the host, and stricter ones of a start. */
export class Limiter {
  readonly #limits: ResourceLimits;
  /** A group without limits and processes. */
  #spare: ControlGroup | undefined;
  #isClosed = false;
  readonly #live = new Set<SessionResources>();
  readonly #ended = new Set<SessionResources>();
  #opened: { groups: ControlGroups | undefined; support: LimitSupport } | undefined;

  constructor(limits: ResourceLimits) {
    this.#limits = limits;
  }

  /** Undefined where nothing is limited. @throws StartError for a limit that cannot be held */
  prepare(wanted: ResourceLimits = {}): SessionResources | undefined {
    const limits = strictest(this.#limits, wanted);
    const names = Object.keys(limits) as LimitName[];
    if (names.length === 0) return undefined;
    const { groups, support } = this.#open();
    for (const name of names) {
      const reason = support.missing.get(name);
      const value = limits[name];
      if (reason === undefined || value === undefined) continue;
      throw new StartError(
        "os_error",
        `nothing was started: its ${describeLimit({ name, value })} cannot be held: ${reason}`,
      );
    }
    this.#sweep();
    try {
      const group = groups && this.#takeGroup(groups);
      group?.limit(limits);
      const resources = new SessionResources(limits, group, (ended) => {
        this.#live.delete(ended);
        this.#ended.add(ended);
        this.#sweep();
      });
      this.#live.add(resources);
      return resources;
    } catch (error) {
      throw new StartError("os_error", `nothing was started: its limits cannot be set: ${messageOf(error)}`);
    }
  }

  /** The next one is made meanwhile: that takes longer than setting its limits. */
  #takeGroup(groups: ControlGroups): ControlGroup {
    const group = this.#spare ?? groups.create();
    this.#spare = undefined;
    setImmediate(() => {
      if (this.#spare !== undefined || this.#isClosed) return;
      try {
        this.#spare = groups.create();
      } catch {
        // the next start tells why
      }
    });
    return group;
  }

  /** What processes with limits use together. */
  get use(): Required<ResourceUse> {
    return sumUse(Array.from(this.#live, ({ state }) => state.use));
  }

  /** Ends what is left in the groups, and removes them. */
  close(): void {
    this.#isClosed = true;
    this.#spare?.remove();
    for (const resources of this.#ended) resources.kill();
    this.#sweep();
  }

  #open() {
    this.#opened ??= openLimits();
    return this.#opened;
  }

  #sweep(): void {
    for (const resources of this.#ended) if (resources.remove()) this.#ended.delete(resources);
  }
}

/** How this host holds limits. */
export const findLimitSupport = (): LimitSupport => openLimits().support;

/** Why one of these limits cannot be held here, and what of the others is held in part only, in full sentences. */
export function checkLimits(limits: ResourceLimits): { problem?: string; lesser: readonly string[] } {
  const { missing, lesser } = findLimitSupport();
  for (const [name, value] of Object.entries(limits) as [LimitName, number][]) {
    const reason = missing.get(name);
    if (reason !== undefined)
      return { problem: `the ${describeLimit({ name, value })} cannot be held: ${reason}`, lesser: [] };
  }
  return { lesser: lesser.flatMap(({ name, sentence }) => (limits[name] === undefined ? [] : [sentence])) };
}

function openLimits(): { groups: ControlGroups | undefined; support: LimitSupport } {
  const opened = process.platform === "linux" ? openControlGroups() : { missing: "control groups are of Linux" };
  const lesser: { name: LimitName; sentence: string }[] = [];
  const add = (name: LimitName, sentence: string) => lesser.push({ name, sentence });
  add("openFiles", "the limit of open files counts for each process");
  const missing = new Map<LimitName, string>();
  if (!("missing" in opened)) {
    add(
      "disk",
      "what is written to disk is counted several times a second: a program can write more before it is ended",
    );
    return { groups: opened, support: { lesser, missing, groups: opened.version } };
  }
  const reason = `there is no control group to hold it: ${opened.missing} (systemd gives one to a service with Delegate=yes, and to systemd-run --user --scope -p Delegate=yes)`;
  missing.set("cpus", reason);
  add("disk", "the limit of what is written to disk counts for each file");
  if (process.platform === "linux")
    add("memory", "the limit of memory counts for each process, and only what it allocates");
  else missing.set("memory", reason);
  if (process.getuid?.() === 0) missing.set("processes", `${reason}, and root may start any number`);
  else add("processes", "the limit of processes counts for all that this user runs on this host");
  return { groups: undefined, support: { lesser, missing, groups: undefined } };
}
