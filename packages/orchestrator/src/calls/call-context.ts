import type { Clock } from "@codex/clock";
import type { TraceContext } from "@codex/telemetry";
import type { Auditor, Trail } from "../audit/audit-trail.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Config } from "../config.js";
import type { Decider } from "../decide/decider.js";
import type { Deciders } from "../decide/deciders.js";
import type { TypedShells } from "../decide/typed-line.js";
import type { EnvironmentTable } from "../environments/environment-table.js";
import type { Session, SessionTable } from "../executors/sessions.js";
import type { CallHooks, HookedUse } from "../hooks/call-hooks.js";
import type { OrchestratorHooks } from "../hooks/hook-caller.js";
import type { Observers } from "../observe/observers.js";
import type { AskingCommands } from "./asking-commands.js";
import type { CallTelemetry } from "./call-telemetry.js";
import type { HostReports } from "./host-reports.js";
import type { SandboxedRun } from "./rerun.js";

/** What all calls share. */
export interface CallPorts {
  readonly config: Config;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly environments: EnvironmentTable;
  readonly sessions: SessionTable;
  readonly deciders: Deciders;
  /** How sandboxed sessions were started. */
  readonly sandboxed: WeakMap<Session, SandboxedRun>;
  readonly typedShells: TypedShells;
  readonly auditor: Auditor;
  readonly observers: Observers;
  readonly telemetry: CallTelemetry;
  /** Commands whose programs and hosts may be asked about. */
  readonly askingCommands: AskingCommands;
  readonly hostReports: HostReports;
  readonly hooks: OrchestratorHooks | undefined;
  /** What hooks are told about when these sessions have ended. */
  readonly hookedSessions: WeakMap<Session, HookedUse>;
  /** Creates an idempotency key; keys count up. */
  readonly newKey: () => string;
  /** Aborts when the orchestrator is closed. */
  readonly closing: AbortSignal;
}

/** One call. */
export interface CallContext extends CallPorts {
  readonly decider: Decider;
  readonly trail: Trail;
  /** Parent of the spans of the call. */
  readonly trace: TraceContext | undefined;
  readonly progress: { isSent: boolean };
  readonly callHooks: CallHooks;
}
