/** Hides secret values, and the user and query of URLs, in a text for logs, errors and models. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const hidden = [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => (secret.length < MIN_SECRET_LENGTH ? rest : rest.replaceAll(secret, "***")), text);
  return hidden.replace(/\b(https?:\/\/)(?:[^\s/@]*@)?([^\s?#"'`]*)(?:\?[^\s#"'`]*)?/g, "$1$2");
}

/** Hiding shorter values, such as `1`, would make texts unreadable. */
const MIN_SECRET_LENGTH = 4;
