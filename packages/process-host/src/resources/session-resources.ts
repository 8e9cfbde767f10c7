import { existsSync } from "node:fs";
import { basename } from "node:path";
import { type ResourceState, StartError } from "@codex/exec-backend";
import type { ReachedLimit, ResourceLimits, ResourceUse } from "@codex/executor-protocol";
import type { ControlGroup } from "./control-groups.js";

const BASHES = ["/bin/bash", "/usr/bin/bash"];

/** Between two looks at what a session uses, milliseconds. */
const LOOK_MS = 200;

/** The limits of one process and of all that it starts. */
export class SessionResources {
  readonly #limits: ResourceLimits;
  readonly #group: ControlGroup | undefined;
  readonly #onEnd: (ended: SessionResources) => void;
  #timers: NodeJS.Timeout[] = [];
  #exceeded: ReachedLimit | undefined;
  /** Once it has ended. */
  #last: ResourceState | undefined;

  constructor(limits: ResourceLimits, group: ControlGroup | undefined, onEnd: (ended: SessionResources) => void) {
    this.#limits = limits;
    this.#group = group;
    this.#onEnd = onEnd;
  }

  /**
   * The same program, started by a shell that joins the group and sets the limits of the system before it becomes the program.
   * @throws StartError
   */
  wrap<Word extends string | Uint8Array>(
    file: string,
    argv: readonly Word[],
  ): { file: string; argv: (string | Word)[] } {
    const [name = file, ...args] = argv;
    const joins = this.#group?.joins ?? [];
    const steps = [...joins.map((_path, index) => `echo 0 >"$${index + 1}"`), ...this.#systemLimits()];
    const failure = 'echo "codex: the limits could not be set" >&2; exit 125';
    // Some shells take functions from the variables, which are the program's.
    const script = `unset -f true echo test ulimit; { ${["true", ...steps].join(" && ")}; } || { ${failure}; }; shift ${joins.length}; `;
    const run = (shell: readonly [string, ...string[]], then: string, ...words: readonly (string | Word)[]) => ({
      file: shell[0],
      argv: [...shell, "-c", script + then, "sh", ...joins, ...words],
    });
    const isNamed = Buffer.compare(Buffer.from(name), Buffer.from(file)) !== 0;
    // Only some shells can start a program under another name. This one takes neither files nor functions from the variables.
    const shell = isNamed ? BASHES.find(existsSync) : undefined;
    if (shell !== undefined)
      return run([shell, "--posix", "-p"], 'name=$1; shift; exec -a "$name" "$@"', name, file, ...args);
    if (basename(Buffer.from(name).toString()) === basename(file)) return run(["/bin/sh"], 'exec "$@"', file, ...args);
    throw new StartError("os_error", "a program under another name cannot be limited on this host: there is no bash");
  }

  /** Where the group holds a limit, the system need not. */
  #systemLimits(): string[] {
    const { openFiles, disk, memory, processes } = this.#limits;
    const isGrouped = this.#group !== undefined;
    // A limit that is already stricter stays: only root may raise it.
    const set = (flag: string, value: number) =>
      `{ ulimit -${flag} ${value} 2>/dev/null || test "$(ulimit -H -${flag})" -le ${value}; }`;
    return [
      ...(openFiles === undefined ? [] : [set("n", openFiles)]),
      ...(disk === undefined ? [] : [set("f", Math.ceil(disk / 512))]),
      ...(memory === undefined || isGrouped ? [] : [set("d", Math.ceil(memory / 1024))]),
      // The name of the option differs between shells.
      ...(processes === undefined || isGrouped
        ? []
        : [`{ ${set("u", processes)} 2>/dev/null || ${set("p", processes)}; }`]),
    ];
  }

  /** Watches what the system does not hold by itself. `onExceeded` is called once, for a limit that ends the process. */
  watch(onExceeded: (limit: ReachedLimit) => void): void {
    const { time, memory, disk } = this.#limits;
    const exceed = (limit: ReachedLimit) => {
      if (this.#exceeded !== undefined) return;
      this.#exceeded = limit;
      this.#stop();
      onExceeded(limit);
    };
    if (time !== undefined) {
      // A timer of Node has at most 2^31 - 1 ms.
      const ms = Math.min(time * 1000, 2 ** 31 - 1);
      this.#timers.push(setTimeout(() => exceed({ name: "time", value: time }), ms).unref());
    }
    const group = this.#group;
    if (group === undefined || (memory === undefined && disk === undefined)) return;
    const look = () => {
      if (memory !== undefined && group.readEvents({ memory }).killed > 0) exceed({ name: "memory", value: memory });
      else if (disk !== undefined && (group.readUse().disk ?? 0) > disk) exceed({ name: "disk", value: disk });
    };
    this.#timers.push(setInterval(look, LOOK_MS).unref());
  }

  /** Which of its limits explains that it was ended by a signal; undefined for none. */
  explain(signal: string): ReachedLimit | undefined {
    const { memory, disk } = this.#limits;
    if (this.#exceeded !== undefined) return this.#exceeded;
    if (signal === "SIGXFSZ" && disk !== undefined) return { name: "disk", value: disk };
    if (signal !== "SIGKILL" || memory === undefined || this.#group === undefined) return undefined;
    return this.#group.readEvents({ memory }).killed > 0 ? { name: "memory", value: memory } : undefined;
  }

  get state(): ResourceState {
    return this.#last ?? { use: this.#group?.readUse() ?? {}, reached: this.#findReached() };
  }

  #findReached(): ReachedLimit[] {
    if (this.#group === undefined) return this.#exceeded === undefined ? [] : [this.#exceeded];
    const { memory, processes, cpus } = this.#limits;
    const { killed, refused, heldBack } = this.#group.readEvents(this.#limits);
    const reached: ReachedLimit[] = [];
    if (this.#exceeded !== undefined && this.#exceeded.name !== "memory") reached.push(this.#exceeded);
    if (memory !== undefined && killed > 0) reached.push({ name: "memory", value: memory, times: killed });
    if (processes !== undefined && refused > 0) reached.push({ name: "processes", value: processes, times: refused });
    if (cpus !== undefined && heldBack > 0) reached.push({ name: "cpus", value: cpus, seconds: heldBack });
    return reached;
  }

  /** The process has exited: what it used is known. What it started may go on, within its limits. */
  end(): void {
    if (this.#last !== undefined) return;
    const use = this.#group === undefined ? {} : { cpuTime: this.#group.readCpuTime() };
    this.#last = { use, reached: this.#findReached() };
    this.#stop();
    this.#onEnd(this);
  }

  /** Ends what is left. */
  kill(): void {
    this.#group?.kill();
  }

  /** Removes its group; false while a process is left in it. */
  remove(): boolean {
    return this.#group?.remove() ?? true;
  }

  #stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }
}

/** Sums of what several sessions use. */
export function sumUse(uses: readonly ResourceUse[]): Required<ResourceUse> {
  const sum = (name: keyof ResourceUse) => uses.reduce((total, use) => total + (use[name] ?? 0), 0);
  return { memory: sum("memory"), cpuTime: sum("cpuTime"), processes: sum("processes"), disk: sum("disk") };
}
