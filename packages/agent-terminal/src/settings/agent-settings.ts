import * as z from "zod/mini";

/** What a configuration says about the agent, beside its provider. Absent members were not set. */
export interface AgentSettings {
  /** As the endpoint names it. */
  readonly model: string;
  readonly reasoning: { readonly effort?: string; readonly summary?: string };
  readonly verbosity?: string;
  readonly serviceTier?: string;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly compactTokenLimit?: number;
  readonly compactPrompt?: string;
  /** File of this host whose text replaces the base instructions. */
  readonly instructionsFile?: string;
  readonly developerInstructions?: string;
  /** Bytes of all AGENTS.md files together. */
  readonly projectDocMaxBytes?: number;
  readonly projectDocFallbackFilenames: readonly string[];
  readonly projectRootMarkers?: readonly string[];
  /** The model may keep a plan. */
  readonly updatePlan: boolean;
  /** The endpoint's own search of the web; undefined: not offered. */
  readonly webSearch?: string;
}

/** A setting does not fit. The message names the key and what is expected. */
export class AgentSettingsError extends Error {
  override readonly name = "AgentSettingsError";
}

/** The model of a configuration that names none. */
export const DEFAULT_MODEL = "gpt-5.5";

const text = z.optional(z.string());
const count = z.optional(z.int().check(z.positive()));
const schema = z.object({
  model: text,
  model_reasoning_effort: text,
  model_reasoning_summary: text,
  model_verbosity: text,
  service_tier: text,
  model_context_window: count,
  model_auto_compact_token_limit: count,
  compact_prompt: text,
  model_instructions_file: text,
  developer_instructions: text,
  project_doc_max_bytes: z.optional(z.int().check(z.nonnegative())),
  project_doc_fallback_filenames: z.optional(z.array(z.string())),
  project_root_markers: z.optional(z.array(z.string())),
  tools: z.optional(z.object({ update_plan: z.optional(z.object({ enabled: z.optional(z.boolean()) })) })),
  web_search: text,
});

/**
 * The settings of an agent: a pure function of a parsed `config.toml`, whose keys are Codex's. `model` comes before its key.
 * @throws AgentSettingsError naming the key
 */
export function readAgentSettings(table: Readonly<Record<string, unknown>>, model?: string): AgentSettings {
  const parsed = schema.safeParse(table);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new AgentSettingsError(`\`${(issue?.path ?? []).join(".")}\`: ${issue?.message ?? "does not fit"}`);
  }
  const config = parsed.data;
  return {
    model: pick(model) ?? pick(config.model) ?? DEFAULT_MODEL,
    reasoning: present({ effort: pick(config.model_reasoning_effort), summary: pick(config.model_reasoning_summary) }),
    projectDocFallbackFilenames: config.project_doc_fallback_filenames ?? [],
    updatePlan: config.tools?.update_plan?.enabled ?? false,
    ...present({
      verbosity: pick(config.model_verbosity),
      serviceTier: pick(config.service_tier),
      contextWindow: config.model_context_window,
      compactTokenLimit: config.model_auto_compact_token_limit,
      compactPrompt: config.compact_prompt,
      instructionsFile: config.model_instructions_file,
      developerInstructions: pick(config.developer_instructions),
      projectDocMaxBytes: config.project_doc_max_bytes,
      projectRootMarkers: config.project_root_markers,
      webSearch: config.web_search === "disabled" ? undefined : pick(config.web_search),
    }),
  };
}

/** An empty text counts as not set. */
const pick = (value: string | undefined): string | undefined =>
  value === undefined || value.trim() === "" ? undefined : value;

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Without the members that are undefined. */
function present<T extends object>(members: T): Present<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>; // the same members, none undefined
}
