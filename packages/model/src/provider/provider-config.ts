import * as z from "zod/mini";

const texts = z.record(z.string(), z.string());
const count = z.int().check(z.nonnegative());

/** Schema of `[model_providers.NAME]`, with the keys of Codex. */
export const providerConfigSchema = z.object({
  name: z.string().check(z.minLength(1)),
  base_url: z.optional(z.string()),
  wire_api: z.optional(z.string()),
  env_key: z.optional(z.string()),
  env_key_instructions: z.optional(z.string()),
  experimental_bearer_token: z.optional(z.string()),
  auth: z.optional(
    z.object({
      command: z.string().check(z.minLength(1)),
      args: z.optional(z.array(z.string())),
      cwd: z.optional(z.string()),
      timeout_ms: z.optional(count),
      refresh_interval_ms: z.optional(count),
    }),
  ),
  requires_openai_auth: z.optional(z.boolean()),
  http_headers: z.optional(texts),
  env_http_headers: z.optional(texts),
  query_params: z.optional(texts),
  request_max_retries: z.optional(count),
  stream_max_retries: z.optional(count),
  stream_idle_timeout_ms: z.optional(count),
  supports_websockets: z.optional(z.boolean()),
  websocket_connect_timeout_ms: z.optional(count),
  /** Keys that Codex does not have. */
  tool_types: z.optional(z.array(z.enum(["function", "custom"]))),
  adapter: z.optional(z.string().check(z.minLength(1))),
});
/** A `[model_providers.NAME]` table. */
export type ProviderConfig = z.infer<typeof providerConfigSchema>;

/** Codex keys that have no effect here and cause no notice. */
export const IGNORED_KEYS: ReadonlySet<string> = new Set([
  "aws",
  "supports_websockets",
  "websocket_connect_timeout_ms",
]);

/** Built-in providers, which cannot be redefined. */
export const BUILT_IN = ["openai", "ollama", "lmstudio"] as const;
