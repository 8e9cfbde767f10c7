import type { OutsideProfile } from "@codex/exec-gate";

/** What a rule does to a command it matches; from lenient to strict. */
export const DECISIONS = ["allow", "prompt", "forbidden"] as const;

export type Decision = (typeof DECISIONS)[number];

/** The strictest of some decisions; undefined if there are none. */
export function getStrictest(decisions: readonly Decision[]): Decision | undefined {
  return DECISIONS.findLast((decision) => decisions.includes(decision));
}

/** Where a rule is declared; lines start at 1. */
export interface RuleOrigin {
  readonly file: string;
  readonly line: number;
}

/** Applies to every command that starts with its pattern, token by token; with `whole` to commands without further tokens. */
export interface PrefixRule {
  readonly first: string;
  /** Alternatives for each further token. */
  readonly rest: readonly (readonly string[])[];
  /** Tokens are compared without regard to case and Unicode composition. */
  readonly canonicalMatching: boolean;
  readonly whole: boolean;
  readonly decision: Decision;
  readonly justification: string | undefined;
  /** `keep`: what it allows still runs in the sandbox. */
  readonly sandbox: "keep" | undefined;
  /** Where a program that it allows, or an answer, runs outside of its command's sandbox; undefined for where `decision` alone says. */
  readonly outside: OutsideProfile | undefined;
  /** Names of variables that it gets there from its caller; `*` at the end stands for the rest. */
  readonly env: readonly string[];
  readonly origin: RuleOrigin;
}

/** The absolute paths that a program name may refer to. */
export interface HostExecutable {
  readonly name: string;
  readonly paths: readonly string[];
}

export const NETWORK_PROTOCOLS = ["http", "https", "socks5_tcp", "socks5_udp"] as const;

export interface NetworkRule {
  /** Lower case, without port and brackets. */
  readonly host: string;
  readonly protocol: (typeof NETWORK_PROTOCOLS)[number];
  readonly decision: Decision;
  readonly justification: string | undefined;
  readonly origin: RuleOrigin;
}
