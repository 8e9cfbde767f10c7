import type { CompiledRoute } from "@codex/network-policy";

/** A host of the sandbox whose requests go to another one, with a header that the sandbox does not know. */
export interface Route {
  target: CompiledRoute;
  /** PEM; in place of the certificates that are trusted by default. */
  ca?: string | undefined;
  /** Name and value of the header. Rejects if its secret cannot be read; the message is not passed on. */
  getHeader(): Promise<readonly [name: string, value: string]>;
  /** The host did not accept it: read it again for the next request. */
  forgetSecret(): void;
}
