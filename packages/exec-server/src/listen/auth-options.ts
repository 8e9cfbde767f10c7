import { createHash } from "node:crypto";
import { errnoOf } from "@codex/exec-backend";
import { readNamedFileSync } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { MAX_SECRET_BYTES } from "../limits.js";
import type { BearerAuth } from "./bearer-token.js";

/** The `--ws-…` options as given on the command line. */
export interface AuthOptions {
  wsAuth?: "capability-token" | "signed-bearer-token";
  wsTokenFile?: string;
  wsTokenSha256?: string;
  wsSharedSecretFile?: string;
  wsIssuer?: string;
  wsAudience?: string;
  wsMaxClockSkewSeconds?: number;
}

/** Seconds; the figure is Codex's. */
const DEFAULT_CLOCK_SKEW_SECONDS = 30;
/** Shorter keys of HMAC-SHA-256 are weaker than the hash (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

/** The file that a token or a secret is read from. */
export const authFileOf = ({ wsTokenFile, wsSharedSecretFile }: AuthOptions): string | undefined =>
  wsTokenFile ?? wsSharedSecretFile;

/** Resolves the options and reads the secret files. Undefined: no authentication. @throws Error that names the option or the file */
export function resolveAuth(options: AuthOptions): BearerAuth | undefined {
  const { wsAuth, wsTokenFile, wsTokenSha256, wsSharedSecretFile, wsIssuer, wsAudience } = options;
  const hasToken = wsTokenFile !== undefined || wsTokenSha256 !== undefined;
  const signed = [wsSharedSecretFile, wsIssuer, wsAudience, options.wsMaxClockSkewSeconds];
  const hasSigned = signed.some((value) => value !== undefined);
  switch (wsAuth) {
    case undefined:
      if (!hasToken && !hasSigned) return undefined;
      throw new Error("websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`");
    case "capability-token":
      if (hasSigned) {
        throw new Error(
          "`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` " +
            "require `--ws-auth signed-bearer-token`",
        );
      }
      return resolveCapability(wsTokenFile, wsTokenSha256);
    case "signed-bearer-token":
      if (hasToken) {
        throw new Error(
          "`--ws-token-file` and `--ws-token-sha256` require `--ws-auth capability-token`, not `signed-bearer-token`",
        );
      }
      return resolveSigned(options);
  }
}

function resolveCapability(file: string | undefined, sha256: string | undefined): BearerAuth {
  if (file !== undefined && sha256 !== undefined) {
    throw new Error("`--ws-token-file` and `--ws-token-sha256` are mutually exclusive");
  }
  if (file !== undefined) return { kind: "capability", sha256: hash(readSecret(file)) };
  if (sha256 === undefined) {
    throw new Error("`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set");
  }
  const digest = sha256.trim();
  if (!/^[0-9a-f]{64}$/i.test(digest)) {
    throw new Error("--ws-token-sha256 must be a 64-character hex SHA-256 digest");
  }
  return { kind: "capability", sha256: Buffer.from(digest, "hex") };
}

function resolveSigned(options: AuthOptions): BearerAuth {
  const { wsSharedSecretFile: file, wsMaxClockSkewSeconds: skew = DEFAULT_CLOCK_SKEW_SECONDS } = options;
  if (file === undefined) {
    throw new Error("`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set");
  }
  const secret = Buffer.from(readSecret(file));
  if (secret.length < MIN_SECRET_BYTES) {
    throw new Error(`signed websocket bearer secret ${file} must be at least ${MIN_SECRET_BYTES} bytes`);
  }
  return {
    kind: "signed",
    secret,
    issuer: unlessBlank(options.wsIssuer),
    audience: unlessBlank(options.wsAudience),
    maxClockSkewSeconds: skew,
  };
}

const unlessBlank = (text: string | undefined): string | undefined => text?.trim() || undefined;

const hash = (text: string): Uint8Array => createHash("sha256").update(text).digest();

/** As Codex prints them. */
const OS_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "No such file or directory (os error 2)",
  EACCES: "Permission denied (os error 13)",
  EISDIR: "Is a directory (os error 21)",
};

/** Reads a secret, trimmed. */
function readSecret(file: string): string {
  let text: string;
  try {
    text = readNamedFileSync(file, { maxBytes: MAX_SECRET_BYTES }).toString().trim();
  } catch (cause) {
    const reason = OS_ERRORS[errnoOf(cause) ?? ""] ?? messageOf(cause);
    throw new Error(`failed to read websocket auth secret ${file}: ${reason}`, { cause });
  }
  if (text === "") throw new Error(`websocket auth secret ${file} must not be empty`);
  return text;
}
