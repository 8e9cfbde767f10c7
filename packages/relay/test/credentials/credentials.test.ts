import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, test } from "vitest";
import {
  type CredentialKind,
  findDestinationProblem,
  openCredential,
  parseExecutorCredential,
  signRequest,
} from "../../src/index.js";

const ALLOWED: Readonly<Record<CredentialKind, readonly string[]>> = {
  "api-key": [
    "https://openai.com",
    "https://api.openai.org/x",
    "http://127.0.0.1:9",
    "http://localhost",
    "https://[::1]:1",
  ],
  chatgpt: ["https://chatgpt.com/backend-api", "https://api.openai.com", "http://127.9.9.9:1"],
  "chatgpt-token": ["https://example.com", "https://127.0.0.1:1"],
  bearer: ["https://example.com", "http://127.0.0.1:1"],
  aws: ["https://example.com", "http://localhost:1"],
};

const REFUSED: Readonly<Record<CredentialKind, readonly string[]>> = {
  "api-key": [
    "https://example.com",
    "http://openai.com",
    "https://notopenai.com",
    "https://openai.com.example.com",
    "http://0.0.0.0:1",
  ],
  chatgpt: ["https://example.com", "http://192.0.2.2:80", "http://chatgpt.com", "https://chatgpt.com.example.com"],
  "chatgpt-token": ["http://example.com", "http://127.0.0.1:1"],
  bearer: ["http://example.com", "http://127.0.0.1.example.com", "ftp://127.0.0.1", "nonsense"],
  aws: ["http://example.com", "https://user:word@example.com"],
};

describe.each(Object.keys(ALLOWED) as CredentialKind[])("a credential of kind %s", (kind) => {
  it.each(ALLOWED[kind])("is sent to %s", (url) => expect(findDestinationProblem(kind, url)).toBeUndefined());
  it.each(REFUSED[kind])("is not sent to %s", (url) =>
    expect(findDestinationProblem(kind, url)).toEqual(expect.any(String)),
  );
});

const LOCAL = { url: "http://127.0.0.1:1/base", environmentId: "env-1" };
const open = (
  choice: Parameters<typeof openCredential>[0],
  sources: Partial<Parameters<typeof openCredential>[2]> = {},
) => openCredential(choice, LOCAL, { env: {}, stdin: new PassThrough(), onEnd: () => {}, ...sources });
const request = { url: `${LOCAL.url}/register`, body: "{}" };

test.each([
  ["the variable", { CODEX_API_KEY: " key " }, { OPENAI_API_KEY: "stored" }, { authorization: "Bearer key" }],
  ["auth.json", {}, { OPENAI_API_KEY: "stored" }, { authorization: "Bearer stored" }],
  [
    "a sign-in",
    {},
    { OPENAI_API_KEY: null, tokens: { access_token: "t", account_id: "a" } },
    { authorization: "Bearer t", "chatgpt-account-id": "a" },
  ],
])("the key comes from %s", async (_, env, auth, headers) => {
  const directory = mkdtempSync(join(tmpdir(), "relay-auth-"));
  const authFile = join(directory, "auth.json");
  writeFileSync(authFile, JSON.stringify(auth));
  try {
    expect(await (await open({}, { env, authFile })).authorize(request)).toEqual(headers);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the plain variable of OpenAI is not used", async () => {
  await expect(open({}, { env: { OPENAI_API_KEY: "k" } })).rejects.toThrow(/no credential/);
});

test("a request to another host than the registry's is checked, too", async () => {
  const { authorize } = await open({}, { env: { CODEX_API_KEY: "key" } });
  expect(() => authorize({ url: "https://example.com/register", body: "" })).toThrow(/not to example\.com/);
});

test("a bearer token is the first line of stdin", async () => {
  const stdin = new PassThrough();
  stdin.write("secret\nmore\n");
  const { authorize, authorizeSocket } = await open({ registrationBearerStdin: true }, { stdin });
  expect(await authorize(request)).toEqual({ authorization: "Bearer secret" });
  expect(authorizeSocket("ws://127.0.0.1:1/")).toEqual({});
});

const frame = (more: Record<string, unknown> = {}) =>
  JSON.stringify({ version: 1, environment_id: "env-1", token: "one", expires_at: 2_000, ...more });

test("an executor credential is replaced by the next line, and a closed pipe ends it", async () => {
  const stdin = new PassThrough();
  const ended: unknown[] = [];
  const now = () => 1_000_000;
  stdin.write(`${frame()}\n`);
  const { authorize } = await open(
    { executorCredentialStdin: true },
    { stdin, now, onEnd: (error) => ended.push(error) },
  );
  expect(await authorize(request)).toEqual({ authorization: "Bearer one" });
  stdin.end(`${frame({ token: "two" })}\n`);
  await new Promise((resolve) => stdin.once("end", resolve));
  expect(await authorize(request)).toEqual({ authorization: "Bearer two" });
  expect(ended).toEqual([undefined]);
});

test.each([
  ["another environment", frame({ environment_id: "env-2" }), /"env-2"/],
  ["another version", frame({ version: 2 }), /`version`/],
  ["an unknown field", frame({ extra: 1 }), /invalid/],
  ["the past", frame({ expires_at: 1_000 }), /expired/],
  ["no JSON", "token", /invalid/],
])("an executor credential of %s is refused, without its token", (_, line, problem) => {
  expect(() => parseExecutorCredential(line, "env-1", 1_000_000)).toThrow(problem);
});

// The example "get-vanilla-query-order-key-case" of AWS's own suite for Signature Version 4.
test("requests are signed as AWS describes it", () => {
  const signer = {
    accessKeyId: "AKIDEXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
    service: "service",
  };
  const request = {
    method: "GET",
    url: "https://example.amazonaws.com/?Param2=value2&Param1=value1",
    body: "",
  } as const;
  expect(signRequest(signer, request, Date.UTC(2015, 7, 30, 12, 36, 0)).authorization).toMatch(
    /SignedHeaders=host;x-amz-date, Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500$/,
  );
});
