/** Capabilities and defaults of a model, from the model list of Codex 0.169.0. */
export interface ModelTraits {
  /** The model is in the list. */
  readonly known: boolean;
  /** Default reasoning effort. */
  readonly effort?: string;
  readonly verbosity?: string;
  /** Tokens of history and response together. */
  readonly contextWindow: number;
  /** Supports free-form (`custom`) tools. */
  readonly customTools: boolean;
  /** Accepts images at their original size. */
  readonly originalImages: boolean;
}

const DEFAULT_WINDOW = 272_000;

/** Defaults that differ from effort `medium`, verbosity `low` and a window of 272,000 tokens. */
const KNOWN: Readonly<Record<string, { effort?: string; verbosity?: string; contextWindow?: number }>> = {
  "gpt-6-astra": { effort: "low" },
  "gpt-6.1-sol": { effort: "low" },
  "gpt-6.1-terra": { effort: "low", contextWindow: 500_000 },
  "gpt-6-sol": {},
  "gpt-6-luna": {},
  "gpt-5.6-sol": { effort: "low" },
  "gpt-5.6-terra": {},
  "gpt-5.6-luna": {},
  "gpt-daybreak-blue-latest": { effort: "low" },
  "gpt-daybreak-red-latest": { verbosity: "high", contextWindow: 372_000 },
  "gpt-5.5": {},
  "codex-auto-review": {},
};

/** Looks up a model by name; unknown models get conservative defaults. */
export function describeModel(name: string): ModelTraits {
  const entry = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (entry === undefined) {
    return { known: false, contextWindow: DEFAULT_WINDOW, customTools: isGpt5OrLater(name), originalImages: false };
  }
  const { effort = "medium", verbosity = "low", contextWindow = DEFAULT_WINDOW } = entry;
  return { known: true, effort, verbosity, contextWindow, customTools: true, originalImages: true };
}

function isGpt5OrLater(name: string): boolean {
  const major = /^gpt-(\d{1,3})(?:[.-]|$)/.exec(name)?.[1];
  return major !== undefined && Number(major) >= 5;
}
