import * as z from "zod/mini";

const texts = z.record(z.string(), z.string());
const count = z.int().check(z.nonnegative());

/** `[model_providers.NAME]`, as far as it is used; every key that Codex has is known. */
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
  /** This program's own keys. */
  tool_types: z.optional(z.array(z.enum(["function", "custom"]))),
  adapter: z.optional(z.string().check(z.minLength(1))),
});
/** A provider's table. */
export type ProviderConfig = z.infer<typeof providerConfigSchema>;

/** Keys of such a table that are passed over in silence: Codex has them, and they mean nothing here. */
export const PASSED_OVER: ReadonlySet<string> = new Set(["aws", "supports_websockets", "websocket_connect_timeout_ms"]);

/** Providers that are there without configuration, and cannot be redefined. */
export const BUILT_IN = ["openai", "ollama", "lmstudio"] as const;
