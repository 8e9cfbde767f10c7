import type { LiveOutput } from "@codex/executor-client";
import { decidedBy, type Trail } from "../audit/audit-trail.js";
import type { Observer, OrchestratorEvent } from "./orchestrator-event.js";

type OnOutput = (output: LiveOutput) => unknown;

/** The audit trail and the output listener of a call, which are also reported to observers. */
export interface ObservedCall {
  readonly trail: Trail;
  readonly onOutput: OnOutput | undefined;
}

/** Reports the calls that begin while there are observers. An observer that throws is removed. */
export class Observers {
  /** Replaced when it changes, so that an event goes to those that observed when it happened. */
  #observers: readonly Observer[] = [];
  #calls = 0;

  /** Returns a function that ends the observation. */
  add(observer: Observer): () => void {
    const own: Observer = (event) => observer(event);
    this.#observers = [...this.#observers, own];
    return () => this.#remove(own);
  }

  emit(event: OrchestratorEvent): void {
    for (const observer of this.#observers) {
      try {
        observer(event);
      } catch {
        this.#remove(observer);
      }
    }
  }

  #remove(observer: Observer): void {
    this.#observers = this.#observers.filter((other) => other !== observer);
  }

  /** Wraps trail and listener to report to observers; returns them unchanged if there are none. */
  begin(tool: string, call: ObservedCall): ObservedCall {
    if (this.#observers.length === 0) return call;
    this.#calls += 1;
    return this.#observe(this.#calls, tool, call);
  }

  #observe(call: number, tool: string, { trail, onOutput }: ObservedCall): ObservedCall {
    let environment = "";
    let rules: readonly string[] = [];
    const started = (place: string, more: object) => {
      environment = place;
      this.emit({ type: "call_started", call, tool, environment, ...more });
    };
    return {
      onOutput: (output) => {
        this.emit({ type: "output", call, environment, output });
        return onOutput?.(output);
      },
      trail: {
        command(place, command) {
          trail.command(place, command);
          started(place, { command: command.command, cwd: command.cwd, tty: command.tty });
        },
        tool(place, args, session) {
          trail.tool(place, args, session);
          started(place, session === undefined ? {} : { session });
        },
        judged: (requirement, matches) => {
          const found = matches();
          trail.judged(requirement, () => found);
          rules = found.slice(0, MAX_SHOWN_RULES).map(({ rule }) => rule);
          const verdict = VERDICTS[requirement.kind];
          this.emit({
            type: "call_decided",
            call,
            verdict,
            decision: { by: rules.length > 0 ? "rule" : "policy", rules },
          });
        },
        decided: (approvalId, answer) => {
          trail.decided(approvalId, answer);
          const verdict = answer.kind === "approved" ? "allowed" : "refused";
          this.emit({ type: "call_decided", call, verdict, decision: { by: decidedBy(answer), rules } });
        },
        blocked: () => {
          trail.blocked();
          this.emit({ type: "call_decided", call, verdict: "refused", decision: { by: "hook", rules: [] } });
        },
        sending: (sandbox) => trail.sending(sandbox),
        hosts: (hosts, omitted) => {
          trail.hosts(hosts, omitted);
          this.emit({ type: "hosts", call, environment, hosts, omitted });
        },
        answered: (result) => trail.answered(result),
        ended: (result) => {
          trail.ended(result);
          this.emit({ type: "call_ended", call, result });
        },
      },
    };
  }
}

const VERDICTS = { skip: "allowed", needsApproval: "asked", forbidden: "refused" } as const;

/** Maximum number of rules reported for one call. */
const MAX_SHOWN_RULES = 16;
