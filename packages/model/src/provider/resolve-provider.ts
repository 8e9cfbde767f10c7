import { SecretFilter } from "@codex/values";
import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import { asObject, asText, type JsonObject } from "../json/members.js";
import { DEFAULT_RETRY_LIMITS, DEFAULT_STREAM_IDLE_MS } from "../limits.js";
import { type Credential, MIN_SECRET_LENGTH, type Provider, Secret } from "./provider.js";
import { BUILT_IN, IGNORED_KEYS, type ProviderConfig, providerConfigSchema } from "./provider-config.js";

/** Invalid provider configuration, or a missing key. The message names tables and keys, never secret values. */
export class ProviderError extends Error {
  readonly code: "unknown_provider" | "bad_provider" | "missing_key";

  constructor(code: ProviderError["code"], message: string) {
    super(message);
    this.name = "ProviderError";
    this.code = code;
  }
}

/** Input of {@link resolveProvider}. */
export interface ProviderSources {
  /** `config.toml`, parsed: `model_provider`, `model_providers`, `openai_base_url`. */
  readonly config: JsonObject;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `auth.json`, parsed; undefined when there is none. */
  readonly auth?: unknown;
  /** Overrides `model_provider`. */
  readonly id?: string;
}

/** A provider, with notices for the user. */
export interface ResolvedProvider {
  readonly provider: Provider;
  /** For example about unknown keys, or a fallback source of the API key. */
  readonly notices: readonly string[];
}

/**
 * Resolves the configured provider and its key. Pure.
 * @throws ProviderError for an invalid configuration or a missing key
 */
export function resolveProvider({ config, env, auth, id }: ProviderSources): ResolvedProvider {
  const notices: string[] = [];
  const name = id ?? asText(config.model_provider) ?? "openai";
  const table = readTable(name, config, env, notices);
  const at = `model_providers.${name}`;
  if (table.wire_api !== undefined && table.wire_api !== "responses") {
    throw bad(
      `${at}.wire_api is ${JSON.stringify(table.wire_api)}; expected "responses" (for chat endpoints see adapter)`,
    );
  }
  const credential = readCredential({ name, at, table, env, auth, notices });
  const headers = readHeaders(at, table, env, credential);
  const baseUrl = table.base_url ?? "https://api.openai.com/v1";
  const keys = credential.kind === "key" ? [credential.key] : [];
  const values = [...keys, ...headers.values()].map((secret) => secret.reveal());
  // Of `Bearer …` and `Basic …`, an endpoint may repeat the credential alone.
  const credentials = values.flatMap((value) => /^\w+ +(\S+)$/.exec(value)?.slice(1) ?? []);
  const secrets = [...values, ...credentials, ...Object.values(table.query_params ?? {})];
  const provider: Provider = {
    id: name,
    name: table.name,
    url: buildUrl(at, baseUrl, table.query_params ?? {}),
    baseUrl: table.base_url,
    query: table.query_params ?? {},
    credential,
    headers,
    retry: {
      ...DEFAULT_RETRY_LIMITS,
      requestRetries: table.request_max_retries ?? DEFAULT_RETRY_LIMITS.requestRetries,
      streamRetries: table.stream_max_retries ?? DEFAULT_RETRY_LIMITS.streamRetries,
    },
    streamIdleMs: table.stream_idle_timeout_ms ?? DEFAULT_STREAM_IDLE_MS,
    toolTypes: table.tool_types,
    adapter: table.adapter,
    createFilter: (...more) => new SecretFilter([...secrets, ...more], { minLength: MIN_SECRET_LENGTH }),
  };
  return { provider, notices };
}

const bad = (message: string) => new ProviderError("bad_provider", message);

function readTable(name: string, config: JsonObject, env: ProviderSources["env"], notices: string[]): ProviderConfig {
  const tables = asObject(config.model_providers) ?? {};
  const redefined = BUILT_IN.find((builtIn) => Object.hasOwn(tables, builtIn));
  if (redefined !== undefined) {
    const how = redefined === "openai" ? "set openai_base_url, or use another name" : "use another name";
    throw bad(`model_providers.${redefined} is built in and cannot be redefined: ${how}`);
  }
  if (name === "openai") return builtInOpenAi(config);
  if (name === "ollama" || name === "lmstudio") return builtInLocal(name, env);
  const table = asObject(Object.hasOwn(tables, name) ? tables[name] : undefined);
  if (table === undefined) {
    const known = [...BUILT_IN, ...Object.keys(tables)].join(", ");
    throw new ProviderError("unknown_provider", `model provider \`${name}\` not found; known are ${known}`);
  }
  for (const key of Object.keys(table)) {
    if (key in providerConfigSchema.shape || IGNORED_KEYS.has(key)) continue;
    notices.push(`model_providers.${name}.${key} is not known and has no effect`);
  }
  const parsed = providerConfigSchema.safeParse(table, PARSE_CONTEXT);
  if (parsed.success) return parsed.data;
  const problem = findProblem(parsed.error, table);
  throw bad(`model_providers.${name}.${problem.name}: ${problem.text}`);
}

function builtInOpenAi(config: JsonObject): ProviderConfig {
  const base = asText(config.openai_base_url);
  return {
    name: "OpenAI",
    requires_openai_auth: true,
    env_http_headers: { "openai-organization": "OPENAI_ORGANIZATION", "openai-project": "OPENAI_PROJECT" },
    ...(base === undefined || base === "" ? {} : { base_url: base }),
  };
}

function builtInLocal(name: "ollama" | "lmstudio", env: ProviderSources["env"]): ProviderConfig {
  const port = env.CODEX_OSS_PORT || (name === "ollama" ? "11434" : "1234");
  return {
    name: name === "ollama" ? "Ollama" : "LM Studio",
    base_url: env.CODEX_OSS_BASE_URL || `http://localhost:${port}/v1`,
  };
}

interface CredentialContext {
  name: string;
  at: string;
  table: ProviderConfig;
  env: ProviderSources["env"];
  auth: unknown;
  notices: string[];
}

function readCredential({ at, table, env, auth, notices }: CredentialContext): Credential {
  const { env_key: variable, experimental_bearer_token: token, auth: command } = table;
  if (variable !== undefined) {
    const value = env[variable]?.trim() ?? "";
    if (value !== "") return asKey(`the variable ${variable}`, env[variable]!);
    const instructions = table.env_key_instructions === undefined ? "" : ` ${table.env_key_instructions}`;
    throw new ProviderError("missing_key", `missing environment variable ${variable} (${at}.env_key).${instructions}`);
  }
  if (token !== undefined) return asKey(`${at}.experimental_bearer_token`, token);
  if (command !== undefined) {
    const { args = [], cwd, timeout_ms: timeoutMs = 5_000, refresh_interval_ms: refreshMs = 300_000 } = command;
    const { command: program } = command;
    return { kind: "command", from: `${at}.auth`, command: { command: program, args, cwd, timeoutMs, refreshMs } };
  }
  return table.requires_openai_auth === true ? readOpenAiKey(env, auth, notices) : { kind: "none" };
}

function readOpenAiKey(env: ProviderSources["env"], auth: unknown, notices: string[]): Credential {
  const codexKey = env.CODEX_API_KEY?.trim() ?? "";
  if (codexKey !== "") return asKey("the variable CODEX_API_KEY", codexKey);
  const file = asObject(auth);
  const stored = asText(file?.OPENAI_API_KEY)?.trim() ?? "";
  if (stored !== "") return asKey("auth.json", stored);
  const openAiKey = env.OPENAI_API_KEY?.trim() ?? "";
  if (openAiKey !== "") {
    notices.push("the key comes from the variable OPENAI_API_KEY; CODEX_API_KEY and auth.json take precedence");
    return asKey("the variable OPENAI_API_KEY", openAiKey);
  }
  const signedIn =
    asObject(file?.tokens) === undefined ? "" : "; auth.json contains a sign-in with ChatGPT, which is not used here";
  throw new ProviderError(
    "missing_key",
    `no key for OpenAI: set CODEX_API_KEY, or OPENAI_API_KEY in auth.json${signedIn}`,
  );
}

function asKey(from: string, value: string): Credential {
  if (!HEADER_VALUE.test(value))
    throw bad(`the key from ${from} contains a line break or another character that is invalid in a header`);
  return { kind: "key", from, key: new Secret(value) };
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function readHeaders(
  at: string,
  table: ProviderConfig,
  env: ProviderSources["env"],
  credential: Credential,
): Map<string, Secret> {
  const headers = new Map<string, Secret>();
  const add = (key: string, name: string, value: string) => {
    if (!HEADER_NAME.test(name)) throw bad(`${at}.${key}: ${JSON.stringify(name)} is not a valid header name`);
    if (!HEADER_VALUE.test(value))
      throw bad(`${at}.${key}: the value of ${name} contains a character that is invalid in a header`);
    if (name.toLowerCase() === "authorization" && credential.kind !== "none") return;
    headers.set(name.toLowerCase(), new Secret(value));
  };
  for (const [name, value] of Object.entries(table.http_headers ?? {})) add("http_headers", name, value);
  for (const [name, variable] of Object.entries(table.env_http_headers ?? {})) {
    const value = env[variable];
    if (value !== undefined && value.trim() !== "") add("env_http_headers", name, value);
  }
  return headers;
}

function buildUrl(at: string, baseUrl: string, params: Readonly<Record<string, string>>): string {
  if (!/^https?:\/\/[^/]/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw bad(`${at}.base_url is ${JSON.stringify(hideUserInfo(baseUrl))}; expected an http or https URL`);
  }
  const { username, password } = new URL(baseUrl);
  if (username !== "" || password !== "")
    throw bad(`${at}.base_url has a user name in it: use env_key or http_headers`);
  const query = new URLSearchParams(params).toString().replaceAll("+", "%20");
  return `${baseUrl.replace(/\/$/, "")}/responses${query === "" ? "" : `?${query}`}`;
}

const hideUserInfo = (url: string): string => url.replace(/\/\/[^/@]*@/, "//…@");
