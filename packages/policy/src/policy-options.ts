import type { SandboxMode } from "@codex/executor-protocol";
import type { ApprovalPolicy } from "./approval-policy.js";
import type { NetworkOptions } from "./network.js";
import type { SaveRule } from "./rule-book.js";
import type { RulePolicy } from "./rules/policy.js";
import type { SandboxSelector } from "./sandbox/sandbox-selector.js";

/** What may run, and in which sandbox. */
export interface PolicyOptions {
  approvalPolicy: ApprovalPolicy;
  /** As `loadRulePolicy` returns them. What its `broken` files may have forbidden needs approval. */
  rules?: RulePolicy;
  /** Saves the rule of a decision `accept_and_save`, such as the result of `createRuleSaver`; without it that decision is not offered. */
  saveRule?: SaveRule;
  /**
   * The sandbox of commands: a mode, or a selector that chooses one for each command. Default: `read-only` where the executor can sandbox;
   * where it cannot, what is not known to be safe needs approval. `danger-full-access` means no sandbox.
   */
  sandbox?: SandboxMode | SandboxSelector;
  /**
   * The hosts that commands reach where their sandbox opens the network; an executor that cannot hold that runs none of them. Absent: they reach
   * every host.
   */
  network?: NetworkOptions;
  /** The profiles that a model may ask for, each for one command, by name. What the sandbox of the policy denies stays denied in them. */
  profiles?: ReadonlyMap<string, PolicyProfile>;
}

/** A profile of permissions. */
export interface PolicyProfile {
  sandbox: SandboxSelector;
  /** As in `PolicyOptions`. */
  network?: NetworkOptions;
}

/** The same, ready for use. */
export interface Policy extends Omit<PolicyOptions, "sandbox"> {
  sandbox: SandboxSelector;
}
