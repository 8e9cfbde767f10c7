import type { EnvironmentLink } from "./link.js";

/** Characters of what is taken for a secret wherever it shows; a shorter text would be cut out of other words. */
export const MIN_SECRET_LENGTH = 4;

/**
 * What of a URL may be a secret: user and password, query and fragment, also without percent-encoding. Any text is taken for
 * one, with or without a scheme.
 */
export function listUrlSecrets(url: string): string[] {
  const [, userInfo = "", query = "", fragment = ""] =
    /^(?:[^:/?#@]*:\/\/)?(?:([^/?#]*)@)?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(url.trim()) ?? [];
  const values = query.split("&").map((pair) => pair.slice(pair.indexOf("=") + 1));
  const parts = [userInfo, userInfo.slice(userInfo.indexOf(":") + 1), query, ...values, fragment];
  const found = parts.flatMap((part) => [part, decode(part)]).filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return [...new Set(found)];
}

/** A text without the secrets, and without user, password, query and fragment of the URLs in it. */
export function redact(text: string, secrets: readonly string[]): string {
  // A secret may be part of another one.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  const without = longestFirst.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "…")), text);
  return without.replace(
    URL_IN_TEXT,
    (_, start: string, rest: string) => start + rest.replace(/^[^/@\s]*@/, "").replace(/[?#].*$/, ""),
  );
}

const URL_IN_TEXT = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s`'"<>]*)/gi;

/** The same link; the errors of its attempts hold no secret, whoever reads them: logs, an orchestrator, its model. */
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
  close: async () => link.close?.(),
});

/** In place: its class and code decide what happens next. */
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
