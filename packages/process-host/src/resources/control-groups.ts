import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ResourceLimits, ResourceUse } from "@codex/executor-protocol";
import { messageOf } from "@codex/values";

/** The control groups of a host, each for one session. Linux. */
export interface ControlGroups {
  readonly version: 1 | 2;
  /** Creates a group without limits. @throws Error */
  create(): ControlGroup;
}

/** A process with all that it starts, which the kernel counts and limits as one. */
export interface ControlGroup {
  /** Files to which a process writes 0 to join. */
  readonly joins: readonly string[];
  /** Sets limits; once. @throws Error */
  limit(limits: ResourceLimits): void;
  /** Seconds of processors so far. */
  readCpuTime(): number;
  readUse(): ResourceUse;
  /** @param limits those whose events are wanted */
  readEvents(limits: ResourceLimits): GroupEvents;
  /** Kills what is left in it. */
  kill(): void;
  /** Removes it; false while a process is left in it. */
  remove(): boolean;
}

/** What the limits of a group have done so far. */
interface GroupEvents {
  /** Processes killed for want of memory. */
  killed: number;
  /** Processes and threads that could not be started. */
  refused: number;
  /** Seconds for which processors were held back. */
  heldBack: number;
}

/** Where the controllers are; in version 2 all in one place. */
interface Place {
  version: 1 | 2;
  memory: string;
  pids: string;
  cpu: string;
  /** Version 1 only: counts the time of processors. */
  cpuacct?: string;
}

/** Groups that this process has made, of all its hosts. */
let count = 0;

/** Finds a place in which this process may make groups; else why there is none, as the end of a sentence. Linux. */
export function openControlGroups(): ControlGroups | { missing: string } {
  try {
    const place = findPlace();
    removeLeftovers(place);
    const create = (): ControlGroup => {
      count += 1;
      return new Group(place, `codex-${process.pid}-${count}`);
    };
    create().remove();
    return { version: place.version, create };
  } catch (error) {
    return { missing: messageOf(error) };
  }
}

function findPlace(): Place {
  const mounts = listMounts();
  const paths = listPaths();
  const place = (controller: string) => {
    const mount = mounts.find(({ type, controllers }) => type === "cgroup" && controllers.includes(controller));
    const path = paths.get(controller);
    return mount === undefined || path === undefined ? undefined : at(mount, path);
  };
  const [memory, pids, cpu, cpuacct] = [place("memory"), place("pids"), place("cpu"), place("cpuacct")];
  if (memory !== undefined && pids !== undefined && cpu !== undefined) {
    return { version: 1, memory, pids, cpu, ...(cpuacct === undefined ? {} : { cpuacct }) };
  }
  const unified = mounts.find(({ type }) => type === "cgroup2");
  const path = paths.get("");
  if (unified === undefined || path === undefined) throw new Error("there is no control group file system");
  const base = at(unified, path);
  delegate(base);
  return { version: 2, memory: base, pids: base, cpu: base };
}

interface Mount {
  type: string;
  /** The group that is mounted. */
  root: string;
  path: string;
  controllers: readonly string[];
}

function listMounts(): Mount[] {
  return readFileSync("/proc/self/mountinfo", "latin1")
    .split("\n")
    .flatMap((line) => {
      const [before = "", after = ""] = line.split(" - ");
      const [type = "", , options = ""] = after.split(" ");
      const [, , , root = "/", path = ""] = before.split(" ");
      return type === "cgroup" || type === "cgroup2" ? [{ type, root, path, controllers: options.split(",") }] : [];
    });
}

/** The group of this process by controller; that of version 2 by the empty name. */
function listPaths(): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of readFileSync("/proc/self/cgroup", "latin1").trim().split("\n")) {
    const [, names = "", path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const name of names.split(",")) if (path !== undefined) paths.set(name, path);
  }
  return paths;
}

function at({ root, path: mount }: Mount, path: string): string {
  const inside = root !== "/" && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path;
  return join(mount, inside);
}

/** The group of this process itself, so that the one that it was started in may be divided. */
const OWN = "server";

/** Lets a group of version 2 have groups with controllers, for which it must not have processes of its own. */
function delegate(base: string): void {
  const available = read(join(base, "cgroup.controllers")).split(" ");
  const missing = ["memory", "pids", "cpu"].filter((name) => !available.includes(name));
  if (missing.length > 0) throw new Error(`its control group has no controller for ${missing.join(", ")}`);
  const wanted = [...available].filter((name) => ["memory", "pids", "cpu", "io"].includes(name));
  const enable = () => writeFileSync(join(base, "cgroup.subtree_control"), wanted.map((name) => `+${name}`).join(" "));
  try {
    enable();
  } catch (error) {
    if (Reflect.get(Object(error), "code") !== "EBUSY") throw error;
    mkdirSync(join(base, OWN), { recursive: true });
    writeFileSync(join(base, OWN, "cgroup.procs"), String(process.pid));
    enable();
  }
}

/** Removes the groups of servers that are gone. */
function removeLeftovers(place: Place): void {
  for (const base of directoriesOf(place)) {
    for (const name of readdirSync(base)) {
      const pid = Number(/^codex-(\d+)-\d+$/.exec(name)?.[1]);
      if (pid > 0 && pid !== process.pid && !isAlive(pid)) removeDirectory(join(base, name));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), "code") === "EPERM";
  }
}

const directoriesOf = ({ version: _version, ...places }: Place): string[] => [...new Set(Object.values(places))];

class Group implements ControlGroup {
  readonly #place: Place;
  readonly #name: string;
  readonly joins: readonly string[];

  constructor(place: Place, name: string) {
    this.#place = place;
    this.#name = name;
    const directories = directoriesOf(place).map((base) => join(base, name));
    this.joins = directories.map((directory) => join(directory, "cgroup.procs"));
    try {
      for (const directory of directories) mkdirSync(directory);
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  #file(controller: "memory" | "pids" | "cpu" | "cpuacct", name: string): string {
    return join(this.#place[controller] ?? this.#place.cpu, this.#name, name);
  }

  limit({ memory, processes, cpus }: ResourceLimits): void {
    const isFirst = this.#place.version === 1;
    if (processes !== undefined) writeFileSync(this.#file("pids", "pids.max"), String(processes));
    if (memory !== undefined && isFirst) {
      writeFileSync(this.#file("memory", "memory.limit_in_bytes"), String(memory));
      writeIfPossible(this.#file("memory", "memory.memsw.limit_in_bytes"), String(memory));
    } else if (memory !== undefined) {
      writeFileSync(this.#file("memory", "memory.max"), String(memory));
      writeIfPossible(this.#file("memory", "memory.swap.max"), "0");
      writeIfPossible(this.#file("memory", "memory.oom.group"), "1");
    }
    if (cpus === undefined) return;
    const quota = Math.max(1000, Math.round(cpus * CPU_PERIOD_US));
    if (isFirst) {
      writeFileSync(this.#file("cpu", "cpu.cfs_period_us"), String(CPU_PERIOD_US));
      writeFileSync(this.#file("cpu", "cpu.cfs_quota_us"), String(quota));
    } else writeFileSync(this.#file("cpu", "cpu.max"), `${quota} ${CPU_PERIOD_US}`);
  }

  readUse(): ResourceUse {
    const isFirst = this.#place.version === 1;
    return {
      memory: Number(read(this.#file("memory", isFirst ? "memory.usage_in_bytes" : "memory.current"))),
      cpuTime: this.readCpuTime(),
      processes: Number(read(this.#file("pids", "pids.current"))),
      disk: this.#readDisk(),
    };
  }

  readCpuTime(): number {
    if (this.#place.version === 2) return readField(this.#file("cpu", "cpu.stat"), "usage_usec") / 1e6;
    return Number(read(this.#file("cpuacct", "cpuacct.usage"))) / 1e9;
  }

  readEvents({ memory, processes, cpus }: ResourceLimits): GroupEvents {
    const isFirst = this.#place.version === 1;
    const stat = this.#file("cpu", "cpu.stat");
    const heldBack = () =>
      isFirst ? readField(stat, "throttled_time") / 1e9 : readField(stat, "throttled_usec") / 1e6;
    const events = this.#file("memory", isFirst ? "memory.oom_control" : "memory.events");
    return {
      killed: memory === undefined ? 0 : readField(events, "oom_kill"),
      refused: processes === undefined ? 0 : readField(this.#file("pids", "pids.events"), "max"),
      heldBack: cpus === undefined ? 0 : heldBack(),
    };
  }

  /** The kernel adds to a process what its children have written, once it has waited for them. */
  #readDisk(): number {
    return this.#listProcesses()
      .map((pid) => readField(`/proc/${pid}/io`, "write_bytes:"))
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  #listProcesses(): number[] {
    return read(this.#file("pids", "cgroup.procs")).split("\n").filter(Boolean).map(Number);
  }

  kill(): void {
    if (this.#place.version === 2 && writeIfPossible(this.#file("pids", "cgroup.kill"), "1")) return;
    for (const pid of this.#listProcesses()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it has ended
      }
    }
  }

  remove(): boolean {
    const removed = directoriesOf(this.#place).map((base) => removeDirectory(join(base, this.#name)));
    return !removed.includes(false);
  }
}

/** Within this period a group gets its share of processors, microseconds. */
const CPU_PERIOD_US = 100_000;

function removeDirectory(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return Reflect.get(Object(error), "code") === "ENOENT";
  }
}

/** Empty where it cannot be read, such as after the group was removed. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1").trim();
  } catch {
    return "";
  }
}

/** The number behind a name at the beginning of a line; 0 without one. */
function readField(path: string, name: string): number {
  const line = read(path)
    .split("\n")
    .find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length + 1));
}

function writeIfPossible(path: string, text: string): boolean {
  try {
    writeFileSync(path, text);
    return true;
  } catch {
    return false;
  }
}
