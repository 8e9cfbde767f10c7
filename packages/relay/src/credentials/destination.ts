import { isLoopbackHost } from "../registry/registry.js";

/** Kinds of credentials, and the destinations each may be sent to. */
export type CredentialKind =
  /** An OpenAI API key: OpenAI hosts, or this machine. */
  | "api-key"
  /** A ChatGPT login: hosts of OpenAI and ChatGPT, or this machine. */
  | "chatgpt"
  /** A ChatGPT token read from stdin: any host over TLS. */
  | "chatgpt-token"
  /** A registry token: any host over TLS, or this machine. */
  | "bearer"
  /** An AWS signature: any host over TLS, or this machine. */
  | "aws";

const OPENAI_HOSTS = /(^|\.)openai\.(com|org)$/i;
const CHATGPT_HOSTS = /(^|\.)(openai\.(com|org)|chatgpt\.com)$/i;

/** Why a credential of this kind must not be sent to this URL; undefined if it may be. */
export function findDestinationProblem(kind: CredentialKind, text: string): string | undefined {
  if (!URL.canParse(text)) return `${JSON.stringify(text)} is not a URL`;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return "the URL of a registry must not contain a user or password";
  if (protocol !== "https:" && protocol !== "http:")
    return `the URL of a registry begins with https: or http:, not ${protocol}`;
  const isSecure = protocol === "https:";
  const isLocal = isLoopbackHost(hostname);
  switch (kind) {
    case "api-key":
      if (isLocal || (isSecure && OPENAI_HOSTS.test(hostname))) return undefined;
      return `a key of OpenAI is sent to https://openai.com and to this machine, not to ${hostname}; for another registry, --registration-bearer-stdin takes its token`;
    case "chatgpt":
      if (isLocal || (isSecure && CHATGPT_HOSTS.test(hostname))) return undefined;
      return `a sign-in with ChatGPT is sent to https://chatgpt.com, https://openai.com and this machine, not to ${hostname}`;
    case "chatgpt-token":
      if (isSecure) return undefined;
      return "--chatgpt-token-stdin needs a registry at https:";
    case "bearer":
    case "aws":
      if (isSecure || isLocal) return undefined;
      return `a credential is sent over https: or to this machine, not over http: to ${hostname}`;
  }
}
