import { randomUUID } from "node:crypto";
import type { Clock } from "@codex/clock";
import { type AuthInfo, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { MAX_BODY_BYTES, MAX_HTTP_SESSIONS, SESSION_IDLE_MS } from "../limits.js";
import type { McpServers } from "../mcp-servers.js";
import { followResponse, refuse } from "./exchange.js";

const SESSION_HEADER = "mcp-session-id";

/** An MCP session of revisions up to 2025-11-25. It is a client of its own: its terminal sessions end with it. */
interface Session {
  id: string;
  /** Whose token opened it; for any other client it does not exist. */
  owner: string;
  transport: WebStandardStreamableHTTPServerTransport;
  /** Requests in progress, open streams included. */
  exchanges: number;
  usedAt: number;
  stopClock: () => void;
}

/** Serves requests of revisions that begin with `initialize` and have sessions. */
export class LegacySessions {
  readonly #servers: McpServers;
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();

  constructor(servers: McpServers, clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  async serve(request: Request, owner: string, authInfo: AuthInfo | undefined): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    const session = id === null ? await this.#open(request, owner, authInfo) : this.#sessions.get(id);
    if (session instanceof Response) return session;
    if (session === undefined || session.owner !== owner) return refuse(404, "Session not found", -32_001);
    this.#begin(session);
    const auth = authInfo === undefined ? {} : { authInfo };
    const response = await session.transport.handleRequest(request, auth).catch((error: unknown) => {
      this.#end(session);
      throw error;
    });
    // The first request of a session must be a valid `initialize`.
    if (session.transport.sessionId === undefined) await session.transport.close();
    return followResponse(response, request.signal, () => this.#end(session));
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), ({ transport }) => transport.close()));
  }

  async #open(request: Request, owner: string, authInfo: AuthInfo | undefined): Promise<Session | Response> {
    if (!(await this.#makeRoom(owner))) {
      return refuse(503, `all ${MAX_HTTP_SESSIONS} MCP sessions of this client are in use`);
    }
    const id = randomUUID();
    const client = `${owner}/${id}`;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: MAX_BODY_BYTES,
    });
    const session = { id, owner, transport, exchanges: 0, usedAt: this.#clock.now(), stopClock: () => {} };
    const auth = authInfo === undefined ? {} : { authInfo };
    const server = this.#servers.create({ era: "legacy", requestInfo: request, ...auth }, client);
    await server.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      session.stopClock();
      this.#sessions.delete(id);
      onclose?.();
      void this.#servers.end(client);
    };
    this.#sessions.set(id, session);
    return session;
  }

  /**
   * Whether the client may have another session, perhaps after its longest unused one has ended. One with running programs ends
   * only if all of them have some.
   */
  async #makeRoom(owner: string): Promise<boolean> {
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner);
    if (own.length < MAX_HTTP_SESSIONS) return true;
    const asked = own.map(async (session) => ({
      session,
      isBusy: await this.#servers.isBusy(`${owner}/${session.id}`),
    }));
    const states = (await Promise.all(asked)).sort((a, b) => a.session.usedAt - b.session.usedAt);
    // Requests may have come in the meantime.
    const open = states.filter(({ session }) => this.#sessions.has(session.id));
    const idle = open.filter(({ isBusy }) => !isBusy);
    const found = (idle.length > 0 ? idle : open).find(({ session }) => session.exchanges === 0);
    await found?.session.transport.close();
    return found !== undefined;
  }

  #begin(session: Session): void {
    session.exchanges += 1;
    session.stopClock();
  }

  #end(session: Session): void {
    session.exchanges -= 1;
    session.usedAt = this.#clock.now();
    if (session.exchanges > 0 || !this.#sessions.has(session.id)) return;
    session.stopClock = this.#clock.after(SESSION_IDLE_MS, () => void session.transport.close());
  }
}
