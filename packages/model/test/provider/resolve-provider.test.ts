import { inspect } from "node:util";
import { resolveProvider } from "@codex/model";
import { describe, expect, it } from "vitest";
import { buildHeaders } from "../../src/provider/headers.js";

const KEY = "sk-very-secret";
const resolve = (table: object, env: Record<string, string> = {}, config: object = {}) =>
  resolveProvider({ config: { model_provider: "mine", model_providers: { mine: table }, ...config }, env });
const headersOf = (table: object, env: Record<string, string> = {}) =>
  buildHeaders({
    provider: resolve({ name: "Mine", base_url: "http://x/v1", ...table }, env).provider,
    request: { threadId: "t" },
    token: undefined,
    userAgent: "agent/1",
    originator: "starter",
  });

describe("a provider's table", () => {
  it.each([
    ["http://x/v1", {}, "http://x/v1/responses"],
    ["http://x/v1/", {}, "http://x/v1/responses"],
    ["http://x/v1", { "api-version": "2026-01-01" }, "http://x/v1/responses?api-version=2026-01-01"],
  ])("makes the URL of %s with %o", (base_url, query_params, url) => {
    expect(resolve({ name: "Mine", base_url, query_params }).provider.url).toBe(url);
  });

  it.each([
    ["has no name", {}, /model_providers\.mine\.name/],
    ["is for chat", { name: "M", wire_api: "chat" }, /wire_api is "chat"; expected "responses"/],
    ["has a wrong type", { name: "M", request_max_retries: "4" }, /model_providers\.mine\.request_max_retries/],
    ["has no URL", { name: "M", base_url: "x/v1" }, /base_url is "x\/v1"; expected an http or https URL/],
    ["has a password in its URL", { name: "M", base_url: "http://u:hunter2@x" }, /user name/],
    ["has no key", { name: "M", env_key: "NO_KEY", env_key_instructions: "Get one." }, /variable NO_KEY .*Get one\./],
    ["has a header with a line break", { name: "M", http_headers: { "x-a": "1\n2" } }, /value of x-a/],
  ])("that %s is an error", (_name, table, message) => {
    expect(() => resolve(table)).toThrow(message);
  });

  it("with a blank key, or one with a line break, is an error that does not show it", () => {
    expect(() => resolve({ name: "M", env_key: "K" }, { K: "  " })).toThrow(/missing environment variable K/);
    const wrong = () => resolve({ name: "M", env_key: "K" }, { K: `${KEY}\n` });
    expect(wrong).toThrow(/line break/);
    expect(wrong).not.toThrow(KEY);
  });

  it("of another name than is asked for is named", () => {
    expect(() =>
      resolveProvider({ config: { model_provider: "other", model_providers: { mine: {} } }, env: {} }),
    ).toThrow("model provider `other` not found; known are openai, ollama, lmstudio, mine");
  });

  it("cannot redefine what is built in", () => {
    expect(() => resolve({ name: "M" }, {}, { model_providers: { openai: { name: "x" } } })).toThrow(/built in/);
  });

  it("has unknown keys told", () => {
    expect(resolve({ name: "M", base_ulr: "x" }).notices).toEqual([
      "model_providers.mine.base_ulr is not known and has no effect",
    ]);
  });

  it("sets repetitions and silence", () => {
    const table = { name: "M", request_max_retries: 0, stream_max_retries: 2, stream_idle_timeout_ms: 1000 };
    expect(resolve(table).provider).toMatchObject({
      retry: { requestRetries: 0, streamRetries: 2 },
      streamIdleMs: 1000,
    });
  });

  it("may name a program for its token", () => {
    const { credential } = resolve({ name: "M", auth: { command: "token", args: ["-q"] } }).provider;
    expect(credential).toMatchObject({ kind: "command", command: { command: "token", args: ["-q"], timeoutMs: 5000 } });
  });
});

describe("headers", () => {
  it("have the key of the variable before that of the table", () => {
    expect(headersOf({ env_key: "K", experimental_bearer_token: "other" }, { K: KEY }).authorization).toBe(
      `Bearer ${KEY}`,
    );
    expect(headersOf({ experimental_bearer_token: "other" }).authorization).toBe("Bearer other");
  });

  it("may replace the user agent, not the authorization", () => {
    const http_headers = { "User-Agent": "mine", Authorization: "Basic x" };
    expect(headersOf({ http_headers, env_key: "K" }, { K: KEY })).toMatchObject({
      "user-agent": "mine",
      authorization: `Bearer ${KEY}`,
    });
  });

  it("come from variables where those are set", () => {
    const headers = headersOf({ env_http_headers: { "x-a": "A", "x-b": "B" } }, { A: "1", B: " " });
    expect(headers).toMatchObject({ "x-a": "1" });
    expect(headers).not.toHaveProperty("x-b");
  });
});

describe("OpenAI", () => {
  const openai = (env: Record<string, string>, config: object = {}, auth?: object) =>
    resolveProvider({ config: config as Record<string, unknown>, env, auth });
  it("is there without configuration", () => {
    const { provider } = openai({ CODEX_API_KEY: KEY, OPENAI_BASE_URL: "http://ignored", OPENAI_PROJECT: "p" });
    expect(provider.url).toBe("https://api.openai.com/v1/responses");
    expect(provider.headers.get("openai-project")?.reveal()).toBe("p");
  });

  it("can be moved", () => {
    expect(openai({ CODEX_API_KEY: KEY }, { openai_base_url: "http://x/v1/" }).provider.url).toBe(
      "http://x/v1/responses",
    );
  });

  it("takes its key from the variable, auth.json, and OPENAI_API_KEY with a notice", () => {
    const from = (env: Record<string, string>, auth?: object) => {
      const { provider, notices } = openai(env, {}, auth);
      return [provider.credential.kind === "none" ? "" : provider.credential.from, notices.length];
    };
    const auth = { OPENAI_API_KEY: "sk-file" };
    expect(from({ CODEX_API_KEY: KEY, OPENAI_API_KEY: "x" }, auth)).toEqual(["the variable CODEX_API_KEY", 0]);
    expect(from({ OPENAI_API_KEY: "x" }, auth)).toEqual(["auth.json", 0]);
    expect(from({ OPENAI_API_KEY: "x" })).toEqual(["the variable OPENAI_API_KEY", 1]);
    expect(() => openai({})).toThrow(/no key for OpenAI/);
  });
});

it("shows its key nowhere", () => {
  const { provider } = resolve({ name: "M", env_key: "K", http_headers: { "x-key": KEY } }, { K: KEY });
  expect(inspect(provider, { depth: 9, showHidden: true })).not.toContain(KEY);
  expect(JSON.stringify(provider)).not.toContain(KEY);
  expect(provider.createFilter().hide(`got ${KEY}`)).toBe("got <hidden>");
});
