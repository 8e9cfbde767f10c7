import type { OutsideProfile } from "@codex/exec-gate";
/** A rule that matches a command. */
export interface RuleMatch {
  decision: "allow" | "prompt" | "forbidden";
  /** Identifies it to a reader, such as its pattern and file. */
  rule: string;
  justification?: string;
  /** `keep`: allowed without asking, still in the sandbox. */
  sandbox?: "keep";
  /** Where the program runs outside of the sandbox of its command, once it may. */
  outside?: OutsideProfile;
}

/** A source of rules. A pure lookup: the same command always has the same matches. */
export interface RulesPort {
  /** Every rule that matches these words. */
  match(command: readonly string[]): readonly RuleMatch[];
  /** The rules that ask before, or forbid, commands which begin with these words and have more. */
  matchLonger(words: readonly string[]): readonly RuleMatch[];
  /** Whether some rule asks before a command or forbids one: a command that is not wholly known may then be one of those. */
  readonly restricts: boolean;
}
