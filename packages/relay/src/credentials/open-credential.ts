import type { Readable } from "node:stream";
import { readPlainFile } from "@codex/plain-file";
import { toError } from "@codex/values";
import { FIRST_CREDENTIAL_MS, MAX_CREDENTIAL_BYTES } from "../limits.js";
import type { RegistryAddress } from "../registry/registry.js";
import { type CredentialKind, findDestinationProblem } from "./destination.js";
import { parseExecutorCredential } from "./executor-credential.js";
import { signRequest } from "./sigv4.js";
import { readLines } from "./stdin-lines.js";

/** The flags of Codex that select an executor's credential. */
export interface CredentialChoice {
  registrationBearerStdin?: boolean;
  executorCredentialStdin?: boolean;
  chatgptTokenStdin?: boolean;
  awsSigv4?: boolean;
  awsRegion?: string | undefined;
  /** Default `execute-api`. */
  awsService?: string | undefined;
}

/** Sources of credentials. */
export interface CredentialSources {
  env: Readonly<Record<string, string | undefined>>;
  /** Path of Codex's `auth.json`, which may be missing. */
  authFile?: string | undefined;
  stdin: Readable;
  /** Called at the end of credentials on stdin, which ends the executor. No reason is given at a regular end of file. */
  onEnd(error?: Error): void;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** A credential for the requests of a registry. */
export interface OpenedCredential {
  authorize: RegistryAddress["authorize"];
  /** Headers of a direct executor's websocket upgrade. */
  authorizeSocket(url: string): Record<string, string>;
}

/**
 * Opens the credential for a registry. The destination is checked for each request, so that no other host gets a token.
 * @throws Error if there is no credential, or it must not be sent to the registry
 */
export async function openCredential(
  choice: CredentialChoice,
  { url, environmentId }: { url: string; environmentId: string },
  sources: CredentialSources,
): Promise<OpenedCredential> {
  const { kind, headersFor } = await choose(choice, environmentId, sources);
  const check = (target: string) => {
    const problem = findDestinationProblem(kind, target);
    if (problem !== undefined) throw new Error(problem);
  };
  check(url);
  return {
    authorize: (request) => {
      check(request.url);
      return headersFor({ method: "POST", contentType: "application/json", ...request });
    },
    // A signature is useless to another host; the URL of other sockets contains their credential.
    authorizeSocket: (target) =>
      kind === "aws" ? headersFor({ method: "GET", url: target.replace(/^ws/, "http"), body: "" }) : {},
  };
}

type Headers = (request: Parameters<typeof signRequest>[1]) => Record<string, string>;

async function choose(
  choice: CredentialChoice,
  environmentId: string,
  sources: CredentialSources,
): Promise<{ kind: CredentialKind; headersFor: Headers }> {
  const { registrationBearerStdin, executorCredentialStdin, chatgptTokenStdin, awsSigv4 } = choice;
  const given = [registrationBearerStdin, executorCredentialStdin, chatgptTokenStdin, awsSigv4].filter(Boolean);
  if (given.length > 1) throw new Error("give one credential: their flags exclude each other");
  if (awsSigv4 === true) return { kind: "aws", headersFor: openAws(choice, sources) };
  if (registrationBearerStdin === true) {
    return { kind: "bearer", headersFor: bearer(await readOne(sources, "--registration-bearer-stdin")) };
  }
  if (chatgptTokenStdin === true) {
    return { kind: "chatgpt-token", headersFor: bearer(await readOne(sources, "--chatgpt-token-stdin")) };
  }
  if (executorCredentialStdin === true) {
    return { kind: "bearer", headersFor: await followCredentials(environmentId, sources) };
  }
  return openStored(sources.env, sources.authFile === undefined ? undefined : await readJsonFile(sources.authFile));
}

const bearer =
  (token: string, more: Record<string, string> = {}): Headers =>
  () => ({ authorization: `Bearer ${token}`, ...more });

function openStored(env: CredentialSources["env"], auth: unknown): { kind: CredentialKind; headersFor: Headers } {
  const key = env.CODEX_API_KEY?.trim() || textOf(auth, "OPENAI_API_KEY");
  if (key !== undefined) return { kind: "api-key", headersFor: bearer(key) };
  const tokens = memberOf(auth, "tokens");
  const token = textOf(tokens, "access_token");
  if (token === undefined) {
    throw new Error("no credential for the registry: set CODEX_API_KEY, or give --registration-bearer-stdin");
  }
  const account = textOf(tokens, "account_id");
  return {
    kind: "chatgpt",
    headersFor: bearer(token, account === undefined ? {} : { "chatgpt-account-id": account }),
  };
}

function openAws({ awsRegion, awsService = "execute-api" }: CredentialChoice, sources: CredentialSources): Headers {
  const { env, now = Date.now } = sources;
  const region = awsRegion ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  if (!region) throw new Error("--aws-sigv4 needs a region: --aws-region, or the variable AWS_REGION");
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw new Error("--aws-sigv4 needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const signer = { accessKeyId, secretAccessKey, sessionToken: token || undefined, region, service: awsService };
  return (request) => signRequest(signer, request, now());
}

function readOne({ stdin }: CredentialSources, flag: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = readLines(stdin, {
      onLine: (line) => {
        stop();
        if (line.trim() === "") reject(new Error(`${flag}: the line on stdin is empty`));
        else resolve(line.trim());
      },
      onEnd: (error) => reject(error ?? new Error(`${flag}: there is no line on stdin`)),
    });
  });
}

/** Resolves with the first credential; each later line replaces it. */
function followCredentials(environmentId: string, sources: CredentialSources): Promise<Headers> {
  const { stdin, onEnd, now = Date.now } = sources;
  let token: string | undefined;
  return new Promise((resolve, reject) => {
    const fail = (error?: Error) => {
      clearTimeout(timer);
      stop();
      if (token === undefined) reject(error ?? new Error("--executor-credential-stdin: there is no line on stdin"));
      else onEnd(error);
    };
    const timer = setTimeout(
      () => fail(new Error(`no executor credential came on stdin within ${FIRST_CREDENTIAL_MS} ms`)),
      FIRST_CREDENTIAL_MS,
    );
    const stop = readLines(stdin, {
      onLine: (line) => {
        try {
          token = parseExecutorCredential(line, environmentId, now());
        } catch (error) {
          return fail(toError(error));
        }
        clearTimeout(timer);
        resolve(() => ({ authorization: `Bearer ${token}` }));
      },
      onEnd: fail,
    });
  });
}

/** Undefined if it is not JSON. */
async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(String(await readPlainFile(file, { maxBytes: MAX_CREDENTIAL_BYTES })));
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Record<string, unknown>)[name]; // JSON objects have string keys
}

function textOf(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === "string" && member.trim() !== "" ? member.trim() : undefined;
}
