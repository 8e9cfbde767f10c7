import { findProblem, PARSE_CONTEXT } from "@codex/values/problem";
import * as z from "zod/mini";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";

const frameSchema = z.strictObject({
  version: z.literal(1),
  environment_id: z.string(),
  token: z.string().check(z.minLength(1)),
  /** Seconds since the epoch. */
  expires_at: z.int(),
});

/**
 * Parses a line of `--executor-credential-stdin`. Returns the token.
 * @param now milliseconds since the epoch
 * @throws Error without the token
 */
export function parseExecutorCredential(line: string, environmentId: string, now: number): string {
  if (Buffer.byteLength(line) > MAX_CREDENTIAL_BYTES) {
    throw new Error(`an executor credential is longer than ${MAX_CREDENTIAL_BYTES} bytes`);
  }
  const frame = readJson(line);
  const parsed = z.safeParse(frameSchema, frame, PARSE_CONTEXT);
  if (!parsed.success) {
    const { name } = findProblem(parsed.error, frame);
    throw new Error(`the executor credential is invalid at \`${name || "(its top level)"}\``);
  }
  const { environment_id, token, expires_at } = parsed.data;
  if (environment_id !== environmentId) {
    throw new Error(`the executor credential is for environment ${JSON.stringify(environment_id)}`);
  }
  if (expires_at * 1000 <= now) throw new Error("the executor credential has expired");
  return token;
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
