import type { RetryLimits } from "../../limits.js";

/** An endpoint and how it is spoken to. Nothing in it shows a key: not `console.log`, not JSON. */
export interface Provider {
  /** Name of its table, such as `openai`. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Of responses, with the query. */
  readonly url: string;
  /** As it is configured; undefined: the default of the API or of the adapter. */
  readonly baseUrl: string | undefined;
  /** Parameters of the query of each request. */
  readonly query: Readonly<Record<string, string>>;
  readonly credential: Credential;
  /** Sent with each request, under lower-case names. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly retry: RetryLimits;
  /** Longest silence, milliseconds. */
  readonly streamIdleMs: number;
  /** Which types of tools it takes, where that is configured. */
  readonly toolTypes: readonly ("function" | "custom")[] | undefined;
  /** Package of an AI SDK provider that speaks to it; undefined: the Responses API. */
  readonly adapter: string | undefined;
  /** The text without keys and header values that are secret. */
  redact(text: string, ...more: readonly (string | undefined)[]): string;
}

/** How a request is authorized; `from` names the source of the key, for people. */
export type Credential =
  | { readonly kind: "none" }
  | { readonly kind: "key"; readonly from: string; readonly key: Secret }
  | { readonly kind: "command"; readonly from: string; readonly command: TokenCommand };

/** A program that prints a token. */
export interface TokenCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** How long a token is used, milliseconds; 0: until it is refused. */
  readonly refreshMs: number;
}

/** A text that shows itself only to who asks for it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "<hidden>";
  }

  toJSON(): string {
    return "<hidden>";
  }
}

/** Replaces secrets in a text. Very short ones would hide half of it, and are no secrets. */
export function redact(text: string, secrets: readonly (string | undefined)[]): string {
  const long = secrets.filter((secret): secret is string => secret !== undefined && secret.length >= 6);
  return long.reduce((shown, secret) => shown.replaceAll(secret, "<hidden>"), text);
}
