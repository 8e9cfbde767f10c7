/** When a person is asked for approval. */
export type ApprovalPolicy = "untrusted" | "on-request" | "on-failure" | "never" | { granular: GranularPolicy };

/** Like `on-request`, but each category of questions can be turned off: its questions become refusals. */
export interface GranularPolicy {
  /** Questions about running outside the sandbox, extra permissions and dangerous commands. */
  sandboxApproval: boolean;
  /** Questions that result from a rule. */
  rules: boolean;
}

export type QuestionCategory = keyof GranularPolicy;

/** The name of the policy when it turns this category of questions into refusals. */
export function refusingPolicy(policy: ApprovalPolicy, category: QuestionCategory): string | undefined {
  if (policy === "never") return "`never`";
  if (typeof policy === "object" && !policy.granular[category]) return `\`granular\` with \`${NAMES[category]}\` off`;
  return undefined;
}

/** As configuration files name them. */
const NAMES = { sandboxApproval: "sandbox_approval", rules: "rules" } satisfies Record<QuestionCategory, string>;
