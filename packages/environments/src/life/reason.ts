import { ChannelError, RpcError } from "@codex/channel";
import { ClientError } from "@codex/exec-server-client";
import { messageOf } from "@codex/values";
import { EnvironmentError, type EnvironmentErrorCode } from "../errors.js";
import { MAX_REASON_LENGTH } from "../limits.js";
import { LinkError } from "../links/link-error.js";
import { createFilter } from "../links/redact.js";

/** Converts an error of connecting to an EnvironmentError without secrets. */
export function toEnvironmentError(id: string, error: unknown, secrets: readonly string[]): EnvironmentError {
  if (error instanceof EnvironmentError) return error;
  // Not kept as a cause: its text may contain the secrets removed here.
  const found = findLinkError(error) ?? error;
  return new EnvironmentError(codeOf(found), id, describeReason(found, secrets));
}

/** The LinkError in the chain of causes. */
function findLinkError(error: unknown): LinkError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof LinkError) return each;
  return undefined;
}

/** The text of an error without secrets, truncated. */
function describeReason(error: unknown, secrets: readonly string[]): string {
  const text = messageOf(error);
  const shown = createFilter(secrets).hideHead(text, MAX_REASON_LENGTH);
  return text.length <= MAX_REASON_LENGTH ? shown : `${shown}…`;
}

function codeOf(error: unknown): EnvironmentErrorCode {
  if (isCertificateProblem(error)) return "untrusted";
  if (error instanceof LinkError) return error.code;
  if (error instanceof ChannelError) {
    if (error.code === "connect_timeout") return "timeout";
    return error.code === "unauthorized" ? "unauthorized" : "unreachable";
  }
  if (error instanceof ClientError) {
    if (error.code === "initialize_timeout") return "timeout";
    return error.code === "closed" ? "unreachable" : "handshake_failed";
  }
  return error instanceof RpcError ? "handshake_failed" : "unreachable";
}

/** Whether an error was caused by a certificate, in the codes of Node and OpenSSL. */
function isCertificateProblem(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if ("code" in each && typeof each.code === "string" && CERTIFICATE.test(each.code)) return true;
  }
  return false;
}

const CERTIFICATE =
  /^(?:DEPTH_ZERO_)?SELF_SIGNED_CERT|^UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)|^CERT_|^ERR_TLS_CERT_/;
