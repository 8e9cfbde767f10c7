import { randomBytes } from "node:crypto";
import { systemClock, waitAtMost } from "@codex/clock";
import type { Orchestrator } from "@codex/orchestrator";
import { createRequestStateCodec, McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { ClientState } from "./calls/client-state.js";
import { type CallState, createCallHandler } from "./calls/tool-call.js";
import { INSTRUCTIONS, SERVER } from "./handshake/identity.js";
import {
  ATTACH_WAIT_MS,
  BUSY_WAIT_MS,
  DEFAULT_MAX_HOLD_MS,
  DRAIN_MS,
  IDLE_POLL_MS,
  MAX_HOLD_MS,
  MIN_HOLD_MS,
} from "./limits.js";
import type { McpServers } from "./mcp-servers.js";
import { isHoldTime, type McpServerOptions } from "./options.js";
import { registerResources } from "./resources/session-resources.js";
import { registerTasks } from "./tasks/register-tasks.js";
import { describeTool } from "./tool-list.js";

/** The client name of a server with a single client. */
const ONLY_CLIENT = "mcp";

const ENDING = "the server is ending; nothing was run";

/**
 * Offers the tools of an orchestrator over MCP, revisions 2024-10-07 to 2026-07-28. Approvals are requested from the client by
 * elicitation; a client without it gets the rule that would allow the command.
 *
 * ```ts
 * const servers = createMcpServers(orchestrator, { maxHoldMs: 50_000 });
 * serveStdio((context) => servers.create(context));
 * ```
 * @param orchestrator or a function that opens it, called on first use: some hosts start a server for its first response alone
 * @throws RangeError for a `maxHoldMs` out of its bounds
 */
export function createMcpServers(
  orchestrator: Orchestrator | (() => Promise<Orchestrator>),
  options: McpServerOptions = {},
): McpServers {
  const { maxHoldMs = DEFAULT_MAX_HOLD_MS, onCancel = "keep", structured = false, version = "0" } = options;
  const { cwd, attach, clock = systemClock } = options;
  if (!isHoldTime(maxHoldMs)) {
    throw new RangeError(
      `maxHoldMs is ${maxHoldMs}; expected whole milliseconds from ${MIN_HOLD_MS} to ${MAX_HOLD_MS}`,
    );
  }
  // A new key for each process: request state from an earlier process is rejected.
  const key = randomBytes(32);
  const clients = new Map<string, ClientState>();
  const connected = new Set<McpServer>();
  const listeners = new Set<() => void>();
  const calls = new Set<Promise<unknown>>();
  let isDraining = false;
  let attaching: Promise<unknown> | undefined;

  const open = typeof orchestrator === "function" ? orchestrator : () => Promise.resolve(orchestrator);
  const untilIdle = async () => {
    await Promise.allSettled([...calls]);
    for (;;) {
      const busy = await Promise.all(Array.from(clients.values(), (state) => state.isBusy()));
      if (!busy.includes(true)) return;
      await new Promise<void>((resolve) => clock.after(IDLE_POLL_MS, resolve));
    }
  };
  const stateOf = (client: string): ClientState => {
    const state =
      clients.get(client) ?? new ClientState(async () => (await open()).createConversation({ client }), clock);
    clients.set(client, state);
    return state;
  };
  const toolsChanged = () => {
    for (const server of connected) if (server.isConnected()) server.sendToolListChanged();
    for (const listener of listeners) listener();
  };
  /** Waits for a limited time for executors attached on first use; if they come later, clients are notified to list again. */
  const attached = async () => {
    if (attach === undefined) return;
    let isLate = false;
    attaching ??= attach()
      .then(() => isLate && toolsChanged())
      // The next listing tries again; calls report why it failed.
      .catch(() => {
        attaching = undefined;
      });
    await waitAtMost(clock, ATTACH_WAIT_MS, attaching);
    isLate = true;
  };

  return {
    create({ era, requestInfo }, client = ONLY_CLIENT) {
      const state = stateOf(client);
      const codec = createRequestStateCodec<CallState>({ key, bind: ({ mcpReq }) => `${mcpReq.method}\0${client}` });
      const mcp = new McpServer(
        { ...SERVER, version },
        {
          capabilities: { tools: { listChanged: true } },
          instructions: INSTRUCTIONS,
          requestState: { verify: (sealed, context) => codec.verify(sealed, context) },
        },
      );
      mcp.server.setRequestHandler("tools/list", async () => {
        await attached();
        const conversation = await state.conversation;
        return { tools: conversation.listTools().map((tool) => describeTool(tool, maxHoldMs, structured)) };
      });
      const handle = createCallHandler(state, {
        maxHoldMs,
        onCancel,
        structured,
        cwd,
        clock,
        isPerRequest: era === "modern",
        capabilities: () => mcp.server.getClientCapabilities(),
        seal: (call, context) => codec.mint(call, context),
      });
      mcp.server.setRequestHandler("tools/call", async (request, context) => {
        if (isDraining) throw new ProtocolError(ProtocolErrorCode.InternalError, ENDING);
        const call = handle(request, context);
        calls.add(call);
        try {
          return await call;
        } finally {
          calls.delete(call);
        }
      });
      if (era === "modern") registerTasks(mcp, state.tasks);
      registerResources(mcp, () => state.conversation, state.watches);
      // A server of one HTTP request cannot send notifications later.
      if (era === "modern" && requestInfo !== undefined) return mcp;
      connected.add(mcp);
      const { onclose } = mcp.server;
      mcp.server.onclose = () => {
        connected.delete(mcp);
        onclose?.();
      };
      return mcp;
    },
    watch: (client = ONLY_CLIENT, uris, onUpdated) => stateOf(client).watches.watch(uris, onUpdated),
    toolsChanged,
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    forget(client) {
      clients.get(client)?.close();
      clients.delete(client);
    },
    async isBusy(client) {
      const state = clients.get(client);
      return state !== undefined && ((await waitAtMost(clock, BUSY_WAIT_MS, state.isBusy())) ?? true);
    },
    async end(client) {
      const state = clients.get(client);
      this.forget(client);
      await state?.endSessions();
    },
    get isReady() {
      return !isDraining;
    },
    async drain({ waitMs = 0 } = {}) {
      isDraining = true;
      if (waitMs > 0) await waitAtMost(clock, waitMs, untilIdle());
      for (const state of clients.values()) state.cancelQuestions();
      const ending = Array.from(clients.values(), (state) => state.endSessions());
      await waitAtMost(clock, DRAIN_MS, Promise.allSettled([...ending, ...calls]));
    },
    close() {
      for (const state of clients.values()) state.close();
      clients.clear();
    },
  };
}
