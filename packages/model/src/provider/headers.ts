import { defined } from "@codex/values";
import type { ModelRequest } from "../model-port.js";
import type { Provider } from "./provider.js";

/** Input of {@link buildHeaders}. */
export interface HeaderParts {
  readonly provider: Pick<Provider, "credential" | "headers">;
  readonly request: Pick<ModelRequest, "threadId" | "turnState">;
  /** Token printed by a credential command. */
  readonly token: string | undefined;
  readonly userAgent: string;
  readonly originator: string;
}

/** Builds the headers of a request. Configured headers may override `user-agent`, but not the authorization by key. */
export function buildHeaders({ provider, request, token, userAgent, originator }: HeaderParts): Record<string, string> {
  const { credential } = provider;
  const key = credential.kind === "key" ? credential.key.reveal() : token;
  const configured = [...provider.headers].map(([name, value]) => [name, value.reveal()] as const);
  return {
    accept: "text/event-stream",
    originator,
    "user-agent": userAgent,
    ...Object.fromEntries(configured),
    "content-type": "application/json",
    "session-id": request.threadId,
    "thread-id": request.threadId,
    "x-client-request-id": request.threadId,
    ...defined({ "x-codex-turn-state": request.turnState }),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
}
