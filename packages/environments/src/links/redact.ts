import { SecretFilter } from "@codex/values";
import type { EnvironmentLink } from "./link.js";

/** Minimum length of a secret; removing shorter texts would damage other words. */
export const MIN_SECRET_LENGTH = 4;

/**
 * The parts of a URL that may be secret: user and password, query and fragment, also percent-decoded. Any text is treated as
 * a URL, with or without a scheme.
 */
export function listUrlSecrets(url: string): string[] {
  const [, userInfo = "", query = "", fragment = ""] =
    /^(?:[^:/?#@]*:\/\/)?(?:([^/?#]*)@)?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(url.trim()) ?? [];
  const values = query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  const parts = [userInfo, userInfo.slice(userInfo.indexOf(":") + 1), query, ...values, fragment];
  const found = parts.flatMap((part) => [part, decode(part)]).filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return [...new Set(found)];
}

/** Removes secrets from a text, and the user, password, query and fragment of URLs in it. */
export function redact(text: string, secrets: readonly string[]): string {
  return createFilter(secrets).hide(text);
}

/** Hides secrets, also in other encodings, and the secret parts of URLs, in text of peers and programs. */
export const createFilter = (secrets: readonly string[]): SecretFilter =>
  new SecretFilter(secrets, { minLength: MIN_SECRET_LENGTH, hidden: "…", urls: true });

/** Wraps a link so that its errors contain no secrets. */
export const redactLink = (link: EnvironmentLink): EnvironmentLink => ({
  get secrets() {
    return link.secrets ?? [];
  },
  async open(signal) {
    try {
      return await link.open(signal);
    } catch (error) {
      createFilter(link.secrets ?? []).hideInError(error);
      throw error;
    }
  },
  canOpenSeveral: link.canOpenSeveral ?? false,
  close: async () => link.close?.(),
});

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
