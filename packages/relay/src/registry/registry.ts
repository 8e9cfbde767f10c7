import { defined } from "@codex/values";
import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { MAX_AUTHORIZATION_BYTES } from "../limits.js";
import { encodePublicKey, type NoisePublicKey, publicKeySchema } from "../noise/keys.js";
import { requestJson } from "./http.js";
import { RegistryError } from "./registry-error.js";

/** The only security profile. */
const SECURITY_PROFILE = "noise_hybrid_ik_v1";
const DIRECT_TRANSPORT = "direct_jsonrpc_v1";

/** A registry, and an environment in it. */
export interface RegistryAddress {
  /** Base URL, `https:` or `http:`. */
  url: string;
  environmentId: string;
  /** Headers of a request to this URL with this body; called for each request, so that a token can be renewed. */
  authorize(request: { url: string; body: string }): Record<string, string> | Promise<Record<string, string>>;
  /** For a harness: labels that the executor must have. With an empty `environmentId`, it may be of any environment. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** Additional trusted CA certificates (PEM). */
  ca?: string | Uint8Array | undefined;
}

/** An executor's registration. */
export interface Registration {
  registrationId: string;
  /** URL of the executor's socket; secret. */
  url: string;
}

/** How a harness reaches an executor. */
export interface Meeting {
  environmentId: string;
  registrationId: string;
  /** URL of the harness's socket; secret. */
  url: string;
  executor: NoisePublicKey;
  /** Presented to the executor, encrypted. */
  authorization: string;
}

const url = z.string().check(z.minLength(1), z.maxLength(8_192));
const id = z.string().check(z.minLength(1), z.maxLength(1_024));

const registrationSchema = z.object({
  environment_id: z.string(),
  url,
  security_profile: z.literal(SECURITY_PROFILE),
  executor_registration_id: id,
});

const directSchema = z.object({
  environment_id: z.string(),
  transport: z.literal(DIRECT_TRANSPORT),
  registration_id: id,
  url,
});

const legacySchema = z.object({ environment_id: z.string(), url });

const meetingSchema = z.object({
  environment_id: z.string(),
  url,
  security_profile: z.literal(SECURITY_PROFILE),
  executor_registration_id: id,
  executor_public_key: publicKeySchema,
  harness_key_authorization: z
    .string()
    .check(z.refine((text) => Buffer.byteLength(text) <= MAX_AUTHORIZATION_BYTES, "it is too long")),
});

/** What an executor registers. */
export interface ExecutorDescription {
  key: NoisePublicKey;
  /** Displayed, and distinguishes the executors of one environment; a new executor replaces one with the same name. */
  name?: string | undefined;
  version?: string | undefined;
  labels?: Readonly<Record<string, string>>;
}

/** Registers an executor for Noise. @throws RegistryError, or the reason of the signal */
export async function registerExecutor(
  address: RegistryAddress,
  { key, labels, name, version }: ExecutorDescription,
  signal?: AbortSignal,
): Promise<Registration> {
  const body = {
    security_profile: SECURITY_PROFILE,
    executor_public_key: encodePublicKey(key),
    ...defined({ name, version }),
    ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
  };
  const answer = await call(address, "register", body, registrationSchema, { signal });
  return { registrationId: answer.executor_registration_id, url: answer.url };
}

/** Registers a direct executor, which speaks JSON-RPC without relay frames. @throws RegistryError, or the reason of the signal */
export async function registerDirect(address: RegistryAddress, signal?: AbortSignal): Promise<Registration> {
  const answer = await call(address, "direct/register", { transport: DIRECT_TRANSPORT }, directSchema, { signal });
  if (answer.registration_id.trim() === "")
    throw new RegistryError("the registry answered with a blank registration_id");
  checkDirectUrl(answer.url);
  return { registrationId: answer.registration_id, url: answer.url };
}

/** Registers an executor of the legacy relay, without encryption. @throws RegistryError, or the reason of the signal */
export async function registerLegacy(address: RegistryAddress, signal?: AbortSignal): Promise<{ url: string }> {
  const { url: found } = await call(address, "register", undefined, legacySchema, { signal });
  return { url: found };
}

/** Requests a connection to an environment for a harness with this key. @throws RegistryError, or the reason of the signal */
export async function requestMeeting(
  address: RegistryAddress,
  key: NoisePublicKey,
  signal?: AbortSignal,
): Promise<Meeting> {
  const { labels = {} } = address;
  const wanted = Object.keys(labels).length === 0 ? {} : { labels };
  const content = { harness_public_key: encodePublicKey(key), ...wanted };
  const answer = await call(address, "connect", content, meetingSchema, { signal });
  return {
    environmentId: answer.environment_id,
    registrationId: answer.executor_registration_id,
    url: answer.url,
    executor: answer.executor_public_key,
    authorization: answer.harness_key_authorization,
  };
}

/** Asks whether to admit a harness. @throws RegistryError, or the reason of the signal */
export async function validateHarness(
  address: RegistryAddress,
  harness: { registrationId: string; streamId: string; key: NoisePublicKey; authorization: string },
  signal?: AbortSignal,
): Promise<boolean> {
  const body = {
    executor_registration_id: harness.registrationId,
    harness_public_key: encodePublicKey(harness.key),
    harness_key_authorization: harness.authorization,
  };
  const headers = { "x-codex-noise-stream-id": harness.streamId };
  const { valid } = await call(address, "validate", body, z.object({ valid: z.boolean() }), { headers, signal });
  return valid;
}

async function call<T>(
  address: RegistryAddress,
  method: string,
  content: unknown,
  schema: z.ZodMiniType<T>,
  { headers, signal }: { headers?: Record<string, string>; signal?: AbortSignal | undefined },
): Promise<T> {
  const base = address.url.trim().replace(/(?<!\/)\/+$/, "");
  const scope = address.environmentId === "" ? "" : `environment/${encodeURIComponent(address.environmentId)}/`;
  const target = `${base}/cloud/${scope}${method}`;
  const body = content === undefined ? "" : JSON.stringify(content);
  const answer = await requestJson({
    url: target,
    body,
    headers: {
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
      ...(await address.authorize({ url: target, body })),
    },
    signal,
    ca: address.ca,
  });
  const parsed = z.safeParse(schema, answer, PARSE_CONTEXT);
  if (!parsed.success) {
    const { name } = findProblem(parsed.error, answer);
    throw new RegistryError(`the registry answered ${method} with an invalid \`${name}\``);
  }
  if (address.environmentId !== "") checkEnvironment(parsed.data, address.environmentId);
  return parsed.data;
}

function checkEnvironment(answer: unknown, expected: string): void {
  if (typeof answer !== "object" || answer === null || !("environment_id" in answer)) return;
  if (answer.environment_id === expected) return;
  throw new RegistryError(`the registry answered for another environment, not ${JSON.stringify(expected)}`);
}

function checkDirectUrl(text: string): void {
  const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: "", hostname: "" };
  if (protocol === "wss:" || (protocol === "ws:" && isLoopbackHost(hostname))) return;
  throw new RegistryError("the registry answered with a URL that is neither wss: nor ws: on loopback");
}

/** Whether a URL's host is loopback: 127/8, `[::1]` or `localhost`. */
export function isLoopbackHost(host: string): boolean {
  return /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/i.test(host);
}
