import type { SentSignal } from "@codex/exec-backend";
import type { Native } from "@codex/native";
import { findProgram, hasNamespaceEnded, type WrapperStatus } from "@codex/sandbox";
import type { FamilyQuery, FamilyWatch, Relative } from "./family.js";
import { groupExists, signalGroup, signalProcess } from "./process-group.js";
import { watchFamily } from "./watch-family.js";

/** The processes of this host that represent a command. */
export interface SignalTarget {
  /** Signals the group. False when there is none. */
  send(signal: SentSignal): boolean;
  /** The kernel knows a process of it; zombies count. */
  exists(): boolean;
  /** Undefined while it does not exist, or not any more. */
  getGroup(): number | undefined;
  /** The program itself; undefined while it does not exist, or not any more. */
  getProgram(): number | undefined;
  watch(query: FamilyQuery, native: Native): FamilyWatch;
}

/** A program that leads its group. */
export class GroupTarget implements SignalTarget {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  send(signal: SentSignal): boolean {
    return signalGroup(this.#pid, signal);
  }

  exists(): boolean {
    return groupExists(this.#pid);
  }

  getGroup(): number {
    return this.#pid;
  }

  getProgram(): number {
    return this.#pid;
  }

  watch(query: FamilyQuery, native: Native): FamilyWatch {
    return watchFamily(query, native);
  }
}

/**
 * A program behind the wrapper of its sandbox. The wrapper leads a group of its own, to which only SIGKILL is sent: everything
 * in the sandbox dies with it. Other signals go to the program, or to the wrapper as long as there is no program.
 */
export function createSandboxTarget(wrapper: number, status: WrapperStatus, ownsSession: boolean): SignalTarget {
  const within = () => status.init !== undefined && !hasNamespaceEnded(status.init);
  const getProgram = () => (status.init === undefined ? undefined : findProgram(status.init));
  const getGroup = (): number | undefined => {
    const program = getProgram();
    // On pipes the first process of the sandbox leads the program's group; on a terminal the program does itself.
    return program === undefined || ownsSession ? program : status.init;
  };
  return {
    send(signal) {
      if (signal === "SIGKILL") {
        const sent = signalGroup(wrapper, signal);
        return (within() && signalProcess(status.init!, signal)) || sent;
      }
      const group = getGroup();
      if (group === undefined) return signalGroup(wrapper, signal);
      return signalGroup(group, signal) || signalProcess(group, signal);
    },
    exists: () => within() || groupExists(wrapper),
    getGroup,
    getProgram,
    watch(query, native) {
      const all = watchFamily(query, native);
      // The wrapper's processes do not belong to the command: a polite signal to them would end everything.
      const isInner = ({ pid, name }: Relative) =>
        pid !== wrapper && pid !== status.init && (status.init !== undefined || name !== WRAPPER_NAME);
      const isLeft = ({ pid }: Relative) => pid !== status.init || !hasNamespaceEnded(pid);
      return {
        async list() {
          const family = await all.list();
          // Once the wrapper is gone, every process of the sandbox is to be ended.
          const keep = groupExists(wrapper) ? isInner : isLeft;
          return family && { ...family, members: family.members.filter(keep), strays: family.strays.filter(keep) };
        },
        signal: (pid, signal) => all.signal(pid, signal),
      };
    },
  };
}

/** The command name of its processes, which identifies them before their pids are known. */
const WRAPPER_NAME = "bwrap";
