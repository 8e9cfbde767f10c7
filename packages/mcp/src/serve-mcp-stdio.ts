import type { McpServer, Transport } from "@modelcontextprotocol/server";
import { type StdioServerHandle, StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { StdioBeginning } from "./handshake/answer-on-stdio.js";
import { MAX_SUBSCRIPTIONS } from "./limits.js";
import type { McpServers } from "./mcp-servers.js";

/** What is served instead of stdin and stdout, and where errors go. */
export interface ServeMcpStdioOptions {
  transport?: Transport;
  /** What `answerFirstRequest` returned: it is read before stdin, and what has been answered is not answered again. */
  beginning?: StdioBeginning | undefined;
  /** Called with errors that the client is not informed of. Their messages are one sentence, without the input. */
  onerror?: (error: Error) => void;
}

/**
 * Serves one client on stdin and stdout, as `serveStdio` of the SDK does; in addition, `subscriptions/listen` of revision 2026-07-28
 * gets the updates of resources, which the SDK filters but does not produce.
 */
export function serveMcpStdio(servers: McpServers, options: ServeMcpStdioOptions = {}): StdioServerHandle {
  const { beginning, transport = createTransport(beginning), onerror } = options;
  let server: McpServer | undefined;
  const stops = new Map<unknown, () => void>();
  const stop = (id: unknown) => {
    stops.get(id)?.();
    stops.delete(id);
  };
  const handle = serveStdio(
    (context) => {
      server = servers.create(context);
      return server;
    },
    { transport, ...(onerror === undefined ? {} : { onerror: (error) => onerror(describeInvalid(error)) }) },
  );
  const { onmessage, onclose } = transport;
  transport.onmessage = (message, extra) => {
    const { id, method, params } = Object(message);
    if (method === "subscriptions/listen") {
      stop(id);
      const listened: unknown = Reflect.get(
        Object(Reflect.get(Object(params), "notifications")),
        "resourceSubscriptions",
      );
      const uris = Array.isArray(listened) ? listened.filter((uri) => typeof uri === "string") : [];
      const notify = (uri: string) => void server?.server.sendResourceUpdated({ uri }).catch(() => {});
      if (stops.size < MAX_SUBSCRIPTIONS) stops.set(id, servers.watch(undefined, uris, notify));
    }
    if (method === "notifications/cancelled") stop(Reflect.get(Object(params), "requestId"));
    onmessage?.(message, extra);
  };
  transport.onclose = () => {
    for (const id of [...stops.keys()]) stop(id);
    onclose?.();
  };
  return handle;
}

/** The SDK reports a line of JSON that is no message by the error of its schema, whose message is all issues as JSON. */
function describeInvalid(error: Error): Error {
  if (!("issues" in error)) return error;
  return new Error("a line of stdin was ignored: it is not a JSON-RPC message", { cause: error });
}

function createTransport(beginning: StdioBeginning | undefined): Transport {
  if (beginning !== undefined && beginning.input.length > 0) process.stdin.unshift(beginning.input);
  const transport = new StdioServerTransport();
  let answered = beginning?.answered;
  if (answered === undefined) return transport;
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    const isAnswer = "result" in message && message.id === answered;
    if (!isAnswer) return send(message);
    answered = undefined; // the id may be used again
  };
  return transport;
}
