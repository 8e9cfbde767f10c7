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
  // A secret may be part of another one.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const without = longestFirst.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "…")), text);
  return without.replace(
    URL_IN_TEXT,
    (_, start: string, rest: string) => start + rest.replace(/^[^/@\s]*@/, "").replace(/[?#].*/s, ""),
  );
}

const URL_IN_TEXT = /(:\/\/)([^\s`'"<>]+)/g;

/** Wraps a link so that its errors contain no secrets. */
export const redactLink = (link: EnvironmentLink): EnvironmentLink => ({
  get secrets() {
    return link.secrets ?? [];
  },
  async open(signal) {
    try {
      return await link.open(signal);
    } catch (error) {
      redactError(error, link.secrets ?? []);
      throw error;
    }
  },
  canOpenSeveral: link.canOpenSeveral ?? false,
  close: async () => link.close?.(),
});

/** Changes the error in place, because callers depend on its class and code. */
function redactError(error: unknown, secrets: readonly string[]): void {
  for (let each = error; each instanceof Error; each = each.cause) {
    each.message = redact(each.message, secrets);
    if (each.stack !== undefined) each.stack = redact(each.stack, secrets);
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
