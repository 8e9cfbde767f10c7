import { defined } from "@codex/values";
import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";

/** Agent settings of a configuration, except the provider. Absent members are not set. */
export interface AgentSettings {
  /** Model id that the endpoint expects. */
  readonly model: string;
  readonly reasoning: { readonly effort?: string; readonly summary?: string };
  readonly verbosity?: string;
  readonly serviceTier?: string;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly compactTokenLimit?: number;
  readonly compactPrompt?: string;
  /** File on this host that replaces the base instructions. */
  readonly instructionsFile?: string;
  readonly developerInstructions?: string;
  /** Total bytes of AGENTS.md files. */
  readonly projectDocMaxBytes?: number;
  readonly projectDocFallbackFilenames: readonly string[];
  readonly projectRootMarkers?: readonly string[];
  /** Offer `update_plan`. */
  readonly updatePlan: boolean;
  /** Web search by the endpoint, as a tool of a request; undefined: not offered. */
  readonly webSearch?: { readonly type: "web_search" } & Readonly<Record<string, unknown>>;
}

/** A setting is invalid. The message names the key and the expected value. */
export class AgentSettingsError extends Error {
  override readonly name = "AgentSettingsError";
}

/** Default model. */
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
  tools: z.optional(
    z.object({
      update_plan: z.optional(z.object({ enabled: z.optional(z.boolean()) })),
      web_search: z.optional(
        z.union([
          z.boolean(),
          z.looseObject({
            allowed_domains: z.optional(z.array(z.string())),
            context_size: text,
            location: z.optional(z.record(z.string(), z.unknown())),
          }),
        ]),
      ),
    }),
  ),
  web_search: z.optional(z.enum(["disabled", "cached", "indexed", "live"])),
});

/**
 * Reads agent settings from a parsed `config.toml`, with the keys of Codex. `model` overrides its key. Pure.
 * @throws AgentSettingsError naming the key
 */
export function readAgentSettings(table: Readonly<Record<string, unknown>>, model?: string): AgentSettings {
  const parsed = schema.safeParse(table, PARSE_CONTEXT);
  if (!parsed.success) {
    const { name, text } = findProblem(parsed.error, table);
    throw new AgentSettingsError(`\`${name}\`: ${text}`);
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
      webSearch: createWebSearch(config),
    }),
  };
}

/** `cached` reads no page anew; `indexed` only those that the endpoint knows. */
function createWebSearch({ web_search: mode, tools }: z.output<typeof schema>): AgentSettings["webSearch"] {
  const settings = tools?.web_search;
  if (mode === undefined || mode === "disabled" || settings === false) return undefined;
  const { allowed_domains: domains, context_size: size, location } = typeof settings === "object" ? settings : {};
  return {
    type: "web_search",
    external_web_access: mode !== "cached",
    ...(mode === "indexed" ? { indexed_web_access: true } : {}),
    ...(domains === undefined ? {} : { filters: { allowed_domains: domains } }),
    ...defined({ search_context_size: size }),
    ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
  };
}

/** An empty string counts as not set. */
const pick = (value: string | undefined): string | undefined =>
  value === undefined || value.trim() === "" ? undefined : value;

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Removes undefined members. */
function present<T extends object>(members: T): Present<T> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Present<T>; // same members, none undefined
}
