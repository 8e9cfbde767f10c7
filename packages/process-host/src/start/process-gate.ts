import { type GateState, type ProcessSpec, StartError } from "@codex/exec-backend";
import type { ChildStart, Gate, GatedStart } from "@codex/native";
import { GateError } from "@codex/native";
import type { WrappedCommand } from "@codex/sandbox";
import { createLeaving, type OutsideHost } from "./outside.js";
import { toReach } from "./reach.js";

/** The gate of a host. */
export interface HostGate {
  /** The gate, opened with the first use; or why there is none. */
  open(): Promise<Gate | { missing: string }>;
  /** The gate has failed: the next use opens another. */
  drop(failed: Gate): Promise<unknown>;
}

/** Starts a child through a gate; resolves to its pid. */
export type SpawnGated = (child: ChildStart) => Promise<number>;

/** The gate of one process and of all that it starts. */
export interface ProcessGate {
  readonly state: GateState;
  /** Undefined where its rules cannot be held. */
  readonly spawn: SpawnGated | undefined;
  /** Resolves when nothing judges its programs any more. */
  readonly broken: Promise<void>;
  /** Call when none of its processes is left, or it was not started. */
  end(): void;
}

/** Opens the gate of a process that has rules; undefined without any. @throws StartError for rules that must be held and cannot */
export async function openProcessGate(
  spec: ProcessSpec,
  mark: bigint,
  wrapped: WrappedCommand | undefined,
  host: HostGate,
  outside: OutsideHost & { wrappers: number },
): Promise<ProcessGate | undefined> {
  const { gate: rules, programQuestions: questions } = spec;
  if (rules === undefined) return undefined;
  const gate = await host.open();
  if ("missing" in gate) {
    if (rules.required === true) {
      const reason = `the programs that it starts cannot be judged: ${gate.missing}`;
      throw new StartError("os_error", `nothing was started: ${reason}`);
    }
    const state: GateState = { kind: "missing", reason: gate.missing };
    return { state, spawn: undefined, broken: new Promise(() => {}), end: () => {} };
  }
  let state: GateState = { kind: "held", reports: [], omitted: 0 };
  let onBroken = () => {};
  const held: Omit<GatedStart, keyof ChildStart> = {
    mark,
    rules,
    isSandboxed: wrapped !== undefined,
    wrappers: outside.wrappers,
    reach: wrapped && toReach(spec.env, wrapped),
    leaving: wrapped && createLeaving(spec, outside),
    questions,
    onReports: (reports, omitted) => {
      state = { kind: "held", reports, omitted };
    },
    onBroken: () => onBroken(),
  };
  return {
    get state() {
      return state;
    },
    spawn: (child) =>
      gate.spawn({ ...child, ...held }).catch((error: unknown) => {
        if (error instanceof GateError) void host.drop(gate).catch(() => {}); // it has ended
        throw error;
      }),
    broken: new Promise((resolve) => {
      onBroken = resolve;
    }),
    end: () => gate.end(mark),
  };
}
