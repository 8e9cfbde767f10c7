/** What has to be known of a model to ask it. Figures of Codex 0.169.0's list of models. */
export interface ModelTraits {
  /** It stands in the list: its defaults below are its own. */
  readonly known: boolean;
  /** Default effort of its reasoning. */
  readonly effort?: string;
  readonly verbosity?: string;
  /** Tokens of history and answer together. */
  readonly contextWindow: number;
  /** It takes tools of free text (`custom`). */
  readonly customTools: boolean;
  /** It takes images as large as they are. */
  readonly originalImages: boolean;
}

const DEFAULT_WINDOW = 272_000;

/** Default effort, verbosity and window where they are not `medium`, `low` and 272,000 tokens. */
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

/** What is known of a model by its name; a model that is not in the list gets what any endpoint takes. */
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
