import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { MAX_LABEL_CHARS, MAX_LABELS, MAX_NAME_CHARS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { publicKeySchema, SECURITY_PROFILE } from "./public-key.js";

/** Name of the transport of a direct executor. */
export const DIRECT_TRANSPORT = "direct_jsonrpc_v1";

/** Longest authorization, bytes; the limit is Codex's. */
const MAX_AUTHORIZATION_CHARS = 4096;

/** Labels of an executor, or those that a harness requires. */
export const labelsSchema = z
  .record(
    z.string().check(z.regex(/^[\w.-]{1,64}$/)),
    z.string().check(z.maxLength(MAX_LABEL_CHARS), z.regex(/^[^\p{Cc}]*$/u)),
  )
  .check(z.refine((labels) => Object.keys(labels).length <= MAX_LABELS));

export type Labels = z.output<typeof labelsSchema>;

const word = z.string().check(z.maxLength(MAX_NAME_CHARS), z.regex(/^[^\p{Cc}]*$/u));

/** Body of `register` with Noise; the members after the key are extensions of Codex's. */
export const registerSchema = z.object({
  security_profile: z.string(),
  executor_public_key: publicKeySchema,
  name: z.optional(word),
  version: z.optional(word),
  labels: z.optional(labelsSchema),
});

/** Body of `direct/register`. */
export const directRegisterSchema = z.object({ transport: z.string() });

/** Body of `connect`. */
export const connectSchema = z.object({ harness_public_key: publicKeySchema, labels: z.optional(labelsSchema) });

/** Body of `validate`. */
export const validateSchema = z.object({
  executor_registration_id: z.string(),
  harness_public_key: publicKeySchema,
  harness_key_authorization: z.string().check(z.maxLength(MAX_AUTHORIZATION_CHARS)),
});

/** Parses a body; unknown members are dropped. @throws Refusal `bad_request` that names the invalid member */
export function parseBody<T extends z.core.$ZodType>(schema: T, body: string): z.output<T> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new Refusal("bad_request", "the body is not JSON");
  }
  const parsed = z.safeParse(schema, value, PARSE_CONTEXT);
  if (parsed.success) return parsed.data;
  const { name } = findProblem(parsed.error, value);
  throw new Refusal("bad_request", name === "" ? "the body is not as expected" : `\`${name}\` is missing or not valid`);
}

/** @throws Refusal `unsupported_profile` */
export function requireProfile(profile: string): void {
  if (profile === SECURITY_PROFILE) return;
  throw new Refusal("unsupported_profile", `the security profile has to be ${SECURITY_PROFILE}`);
}

/** @throws Refusal `unsupported_profile` */
export function requireDirect(transport: string): void {
  if (transport === DIRECT_TRANSPORT) return;
  throw new Refusal("unsupported_profile", `the transport has to be ${DIRECT_TRANSPORT}`);
}
