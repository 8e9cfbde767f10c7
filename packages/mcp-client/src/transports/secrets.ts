import { SecretFilter } from "@codex/values";

/** Hides the values that a server is given, and the secret parts of URLs, in text for logs, errors and models. */
export const createFilter = (secrets: readonly string[]): SecretFilter =>
  new SecretFilter(secrets, { hidden: "***", urls: true });
