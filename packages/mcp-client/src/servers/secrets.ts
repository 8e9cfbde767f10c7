/** Hides values that are secret, and user and query of URLs, in a text for logs, errors and models. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const hidden = [...secrets]
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => (secret.length < SHORTEST ? rest : rest.replaceAll(secret, "***")), text);
  return hidden.replace(/\b(https?:\/\/)(?:[^\s/@]*@)?([^\s?#"'`]*)(?:\?[^\s#"'`]*)?/g, "$1$2");
}

/** Shorter values, such as `1`, would hide half of every sentence. */
const SHORTEST = 4;
