import type { McpRequestContext, McpServer } from "@modelcontextprotocol/server";

/** Creates the servers of one orchestrator, for `serveMcpStdio`, `createMcpHttpServer` and the functions of the SDK. */
export interface McpServers {
  /** Creates a server for one connection or request; the servers of one client share its sessions, questions and notes. */
  create(context: McpRequestContext, client?: string): McpServer;
  /**
   * Calls `onUpdated` with a resource of `uris` when its session has written or ended, at most once a second for each. Sessions of
   * other clients are not reported. Returns a function that stops it.
   */
  watch(client: string | undefined, uris: readonly string[], onUpdated: (uri: string) => void): () => void;
  /** Notifies connected clients that a tool was added or removed. */
  toolsChanged(): void;
  /** Calls `listener` with each `toolsChanged`. Returns a function that stops it. */
  onToolsChanged(listener: () => void): () => void;
  /** Withdraws the open questions of a client that has disconnected. Its sessions keep running. */
  forget(client: string): void;
  /** Whether sessions of a client are running; true as well if that is not known in time. Never rejects. */
  isBusy(client: string): Promise<boolean>;
  /** `forget`, and ends the sessions of the client. Never rejects. */
  end(client: string): Promise<void>;
  /**
   * Refuses further calls, withdraws the open questions, and ends all sessions, so that calls in progress respond with the last output
   * of their programs. Resolves when they have responded, or after some seconds. Never rejects. `close` is to follow.
   * @param options `waitMs`: what runs has so long to end by itself first. Default 0
   */
  drain(options?: { waitMs?: number }): Promise<void>;
  /** False from the beginning of `drain` on. */
  readonly isReady: boolean;
  /** Withdraws all open questions. The orchestrator stays open. */
  close(): void;
}
