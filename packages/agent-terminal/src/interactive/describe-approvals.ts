/** Input of {@link describeApprovals}. */
export interface ApprovalFacts {
  /** Undefined: granular, as configured. */
  readonly policy: string | undefined;
  readonly sandbox: string;
  /** File of saved rules. */
  readonly rulesFile: string;
}

/** Describes approval policy, sandbox and rules file. */
export const describeApprovals = ({ policy, sandbox, rulesFile }: ApprovalFacts): string =>
  [
    `approval policy: ${policy ?? "granular"} (${WHEN[policy ?? ""] ?? "as configured"})`,
    `sandbox: ${sandbox}`,
    `rules that are saved go to ${rulesFile}`,
    "codex -a POLICY -s SANDBOX begins with others",
  ].join("\n");

const WHEN: Readonly<Record<string, string>> = {
  never: "nobody is asked; what needs approval is refused",
  "on-request": "asked where the model wants more than the sandbox allows, and by rules",
  "on-failure": "asked once the sandbox has refused something, and by rules",
  untrusted: "asked for every command that is not known to be safe",
};
