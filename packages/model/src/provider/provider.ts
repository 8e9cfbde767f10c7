import type { SecretFilter } from "@codex/values";
import type { RetryLimits } from "../limits.js";

/** An endpoint and its settings. Neither `console.log` nor JSON reveals a key. */
export interface Provider {
  /** Name of its table, such as `openai`. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** URL of `POST /responses`, with the query. */
  readonly url: string;
  /** As configured; undefined: the default of the API or adapter. */
  readonly baseUrl: string | undefined;
  /** Query parameters of each request. */
  readonly query: Readonly<Record<string, string>>;
  readonly credential: Credential;
  /** Headers of each request, by lower-case name. */
  readonly headers: ReadonlyMap<string, Secret>;
  readonly retry: RetryLimits;
  /** Idle timeout, milliseconds. */
  readonly streamIdleMs: number;
  /** Supported tool types, if configured. */
  readonly toolTypes: readonly ("function" | "custom")[] | undefined;
  /** AI SDK provider package to use; undefined: the Responses API. */
  readonly adapter: string | undefined;
  /** Hides keys, header values and query parameters in text of the endpoint, in any encoding; `more`: a token. */
  createFilter(...more: readonly (string | undefined)[]): SecretFilter;
}

/** How a request is authorized; `from` describes the source of the key for messages. */
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
  /** Lifetime of a token, milliseconds; 0: until it is rejected. */
  readonly refreshMs: number;
}

/** A string that is hidden when logged or serialized. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the string. */
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

/** Shorter values are not hidden, UTF-16 units. */
export const MIN_SECRET_LENGTH = 6;
