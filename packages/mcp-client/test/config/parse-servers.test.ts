import { describe, expect, it } from "vitest";
import { McpConfigError, parseMcpServers } from "../../src/index.js";

const parse = (server: unknown) => parseMcpServers({ s: server })[0]!;

it("reads a stdio server, with the defaults of Codex", () => {
  expect(parse({ command: "uvx", unknown_key: 1 })).toEqual({
    name: "s",
    transport: { kind: "stdio", command: "uvx", args: [], env: {}, envVars: [], cwd: undefined },
    enabled: true,
    required: false,
    startupTimeoutMs: 30_000,
    toolTimeoutMs: 120_000,
    enabledTools: undefined,
    disabledTools: [],
    environmentId: undefined,
    approvalMode: "auto",
    toolApprovalModes: {},
  });
});

it("reads every key", () => {
  const server = parse({
    command: "x",
    args: ["-v"],
    env: { A: "1" },
    env_vars: ["B", { name: "C", source: "remote" }],
    cwd: "sub",
    startup_timeout_sec: 1.5,
    tool_timeout_sec: 0,
    enabled: false,
    required: true,
    enabled_tools: ["t"],
    disabled_tools: ["u"],
    environment_id: "far",
    experimental_environment: "older",
    default_tools_approval_mode: "prompt",
    tools: { t: { approval_mode: "approve" }, u: {} },
  });
  expect(server).toMatchObject({
    transport: {
      args: ["-v"],
      env: { A: "1" },
      envVars: [
        { name: "B", source: "local" },
        { name: "C", source: "remote" },
      ],
      cwd: "sub",
    },
    startupTimeoutMs: 1_500,
    toolTimeoutMs: 0,
    enabled: false,
    required: true,
    enabledTools: ["t"],
    disabledTools: ["u"],
    environmentId: "far",
    approvalMode: "prompt",
    toolApprovalModes: { t: "approve" },
  });
  expect(parse({ command: "x", experimental_environment: "older", startup_timeout_ms: 20 })).toMatchObject({
    environmentId: "older",
    startupTimeoutMs: 20,
  });
  const http = {
    bearer_token_env_var: "T",
    http_headers: { A: "1" },
    env_http_headers: { B: "V" },
    oauth: { client_id: "c", client_secret: "s", callback_url: "http://127.0.0.1/back" },
    oauth_resource: "https://example.com",
    scopes: ["read"],
  };
  expect(parse({ url: "nonsense", ...http }).transport).toEqual({
    kind: "http",
    url: "nonsense",
    bearerTokenEnvVar: "T",
    httpHeaders: { A: "1" },
    envHttpHeaders: { B: "V" },
    oauth: {
      clientId: "c",
      clientSecret: "s",
      callbackUrl: "http://127.0.0.1/back",
      resource: "https://example.com",
      scopes: ["read"],
    },
  });
});

/** Each was tried on Codex 0.169.0, which rejects it. */
const REJECTED: [string, unknown, string][] = [
  ["neither kind", { args: ["x"] }, "`mcp_servers.s`: it has neither `command` nor `url`"],
  ["both kinds", { command: "x", url: "http://h" }, "`mcp_servers.s.url`: a server with `command` does not take it"],
  ["no table", 1, "`mcp_servers.s`: expected a table, got 1"],
  ["a token of stdio", { command: "x", bearer_token_env_var: "A" }, "`mcp_servers.s.bearer_token_env_var`"],
  ["a login of stdio", { command: "x", oauth: { client_id: "c" } }, "`mcp_servers.s.oauth`"],
  [
    "a secret without its client",
    { url: "http://h", oauth: { client_secret: "s" } },
    "`mcp_servers.s.oauth.client_id`",
  ],
  ["scopes that are a string", { url: "http://h", scopes: "read" }, "`mcp_servers.s.scopes`"],
  ["headers of stdio", { command: "x", http_headers: { a: "b" } }, "`mcp_servers.s.http_headers`"],
  ["arguments of HTTP", { url: "u", args: ["x"] }, "`mcp_servers.s.args`: a server with `url` does not take it"],
  ["variables of HTTP", { url: "u", env: { A: "b" } }, "`mcp_servers.s.env`"],
  ["named variables of HTTP", { url: "u", env_vars: ["A"] }, "`mcp_servers.s.env_vars`"],
  ["a directory of HTTP", { url: "u", cwd: "/" }, "`mcp_servers.s.cwd`"],
  ["a literal token", { url: "u", bearer_token: "hunter2" }, "name a variable with `bearer_token_env_var`"],
  [
    "a negative time",
    { command: "x", startup_timeout_sec: -1 },
    "`mcp_servers.s.startup_timeout_sec`: expected at least 0, got -1",
  ],
  [
    "a time in words",
    { command: "x", tool_timeout_sec: "1" },
    "`mcp_servers.s.tool_timeout_sec`: expected a number, got a string",
  ],
  ["a number in env", { command: "x", env: { A: 1 } }, "`mcp_servers.s.env.A`: expected a string, got a number"],
  ["a number as command", { command: 1 }, "`mcp_servers.s.command`: expected a string, got 1"],
  ["a string as args", { command: "x", args: "hunter2" }, "`mcp_servers.s.args`: expected an array, got a string"],
  [
    "a string as enabled",
    { command: "x", enabled: "no" },
    "`mcp_servers.s.enabled`: expected true or false, got a string",
  ],
  [
    "an unknown source",
    { command: "x", env_vars: [{ name: "C", source: "bad" }] },
    "`mcp_servers.s.env_vars[0].source`: expected one of `local`, `remote`",
  ],
  [
    "an unknown mode",
    { command: "x", default_tools_approval_mode: "zz" },
    "expected one of `auto`, `prompt`, `writes`, `approve`",
  ],
];

describe("rejects", () => {
  it.each(REJECTED)("%s, naming server and key and no value", (_, server, message) => {
    expect(() => parse(server)).toThrow(McpConfigError);
    expect(() => parse(server)).toThrow(message);
    expect(() => parse(server)).not.toThrow("hunter2");
  });

  it("more than 64 servers, and a value that is not a table", () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`s${index}`, { command: "x" }]));
    expect(() => parseMcpServers(many)).toThrow("65 servers, the limit is 64");
    expect(() => parseMcpServers("x")).toThrow("`mcp_servers`: expected a table, got a string");
    expect(parseMcpServers(undefined)).toEqual([]);
  });
});
