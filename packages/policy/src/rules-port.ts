/** A rule that matches a command. */
export interface RuleMatch {
  decision: "allow" | "prompt" | "forbidden";
  /** How a reader finds it, such as its pattern and file. */
  rule: string;
  justification?: string;
  /** `keep`: allowed without asking, still in the sandbox. */
  sandbox?: "keep";
}

/** Where rules come from. A pure look-up: the same command gets the same answer. */
export interface RulesPort {
  /** Every rule that matches these words. */
  match(command: readonly string[]): readonly RuleMatch[];
}
