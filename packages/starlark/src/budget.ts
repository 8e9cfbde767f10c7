import { Fault } from "./errors.js";
import { MAX_ALLOCATED_BYTES, MAX_CALL_DEPTH, MAX_EVALUATION_DEPTH, MAX_STEPS } from "./limits.js";

export interface BudgetLimits {
  readonly steps: number;
  readonly allocatedBytes: number;
  readonly callDepth: number;
  readonly evaluationDepth: number;
}

const DEFAULT_BUDGET_LIMITS: BudgetLimits = {
  steps: MAX_STEPS,
  allocatedBytes: MAX_ALLOCATED_BYTES,
  callDepth: MAX_CALL_DEPTH,
  evaluationDepth: MAX_EVALUATION_DEPTH,
};

/** The resource budget of one evaluation. A counter that exceeds its limit throws a `Fault` that names the limit. */
export class Budget {
  private steps = 0;
  private allocated = 0;
  private depth = 0;
  private calls = 0;

  constructor(private readonly limits: BudgetLimits = DEFAULT_BUDGET_LIMITS) {}

  spend(steps = 1): void {
    this.steps += steps;
    if (this.steps > this.limits.steps) {
      throw new Fault(`the file takes more than ${this.limits.steps} evaluation steps`, "Shorten its loops.");
    }
  }

  /** Counts memory before it is used, so that a huge value is refused and not built. */
  allocate(bytes: number): void {
    this.allocated += bytes;
    if (this.allocated > this.limits.allocatedBytes) {
      throw new Fault(
        `the values of this file need more than ${this.limits.allocatedBytes} bytes`,
        "Build shorter strings and lists.",
      );
    }
  }

  enter(): void {
    this.depth += 1;
    if (this.depth > this.limits.evaluationDepth) {
      throw new Fault(`evaluation is nested deeper than ${this.limits.evaluationDepth} levels`, "Nest less.");
    }
  }

  leave(): void {
    this.depth -= 1;
  }

  enterCall(): void {
    this.calls += 1;
    if (this.calls > this.limits.callDepth) {
      throw new Fault(`functions call each other deeper than ${this.limits.callDepth} levels`, "Use a loop instead.");
    }
  }

  leaveCall(): void {
    this.calls -= 1;
  }
}
