import type { ListedSession } from "@codex/executor-protocol";
import type { Conversation } from "@codex/orchestrator";
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { MAX_SUBSCRIPTIONS } from "../limits.js";
import { readResource, SessionReadError } from "./read-session.js";
import { parseUri, RESOURCE_KINDS, type ResourceKind, toUri } from "./session-uri.js";
import type { SessionWatches } from "./session-watches.js";

const DESCRIPTIONS: Record<ResourceKind, { title: string; mimeType: string }> = {
  output: { title: "Output of a session", mimeType: "text/plain" },
  screen: { title: "Terminal of a session, as it is now", mimeType: "text/plain" },
  "recording.cast": { title: "Recording of a session, asciicast v3", mimeType: "application/x-asciicast" },
};

/** Registers output, screen and recording of sessions as resources, with subscriptions of revisions that have a session. */
export function registerResources(
  mcp: McpServer,
  getConversation: () => Promise<Conversation>,
  watches: SessionWatches,
): void {
  mcp.server.registerCapabilities({ resources: { subscribe: true } });
  const list = async () => ({ resources: (await listSessions(await getConversation())).flatMap(describe) });
  for (const kind of RESOURCE_KINDS) {
    const { title, mimeType } = DESCRIPTIONS[kind];
    // The first one lists the resources of all.
    const template = new ResourceTemplate(`codex://sessions/{id}/${kind}`, {
      list: kind === "output" ? list : undefined,
    });
    mcp.registerResource(`session-${kind}`, template, { title, mimeType }, async ({ href }) => {
      const resource = parseUri(href);
      if (resource === undefined) throw new ResourceNotFoundError(href);
      const text = await readResource(await getConversation(), resource.session, kind).catch((error: unknown) => {
        throw error instanceof SessionReadError ? new ResourceNotFoundError(href, error.message) : error;
      });
      return { contents: [{ uri: href, mimeType, text }] };
    });
  }
  addSubscriptions(mcp, watches);
}

/** `resources/subscribe` of revisions up to 2025-11-25; later ones have `subscriptions/listen`, which the SDK serves. */
function addSubscriptions({ server }: McpServer, watches: SessionWatches): void {
  const stops = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", ({ params: { uri } }) => {
    if (parseUri(uri) === undefined) throw new ResourceNotFoundError(uri);
    if (stops.size >= MAX_SUBSCRIPTIONS && !stops.has(uri)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `more than ${MAX_SUBSCRIPTIONS} subscriptions`);
    }
    stops.get(uri)?.();
    stops.set(
      uri,
      watches.watch([uri], () => void server.sendResourceUpdated({ uri }).catch(() => {})),
    );
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    stops.get(uri)?.();
    stops.delete(uri);
    return {};
  });
  const { onclose } = server;
  server.onclose = () => {
    for (const stop of stops.values()) stop();
    onclose?.();
  };
}

function describe({ sessionId, command, tty }: ListedSession): Resource[] {
  return RESOURCE_KINDS.filter((kind) => tty || kind !== "screen").map((kind) => ({
    ...DESCRIPTIONS[kind],
    uri: toUri({ session: sessionId, kind }),
    name: `session-${sessionId}-${kind}`,
    description: command,
  }));
}

/** Without an executor there are none. */
async function listSessions(conversation: Conversation) {
  const listed = await conversation.callTool("list_sessions", {});
  return (!listed.isError && listed.structured?.sessions) || [];
}
