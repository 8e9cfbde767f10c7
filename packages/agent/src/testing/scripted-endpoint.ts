import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Item } from "../model/items.js";
import { fail, functionCall, type Reply, respond, say } from "./replies.js";

/** A request as it came. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent. */
  readonly text: string;
  /** Its JSON; empty members where it is none. */
  readonly body: {
    readonly input: readonly Item[];
    readonly tools: readonly object[];
    readonly [member: string]: unknown;
  };
  /** `performance.now` when it had come whole, milliseconds. */
  readonly at: number;
}

/** The replies in order, or a function that makes them; a request for which there is none is answered 400. */
export type Script = readonly Reply[] | ((request: ReceivedRequest, index: number) => Reply | Promise<Reply>);

/** An endpoint on loopback that plays a script. */
export interface ScriptedEndpoint {
  /** For `base_url`. */
  readonly url: string;
  readonly port: number;
  /** So far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** What the script threw. */
  readonly failure: unknown;
  /** Breaks what is open. */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * An HTTP server of the Responses API for tests and examples. It answers whatever is posted by the script.
 *
 * ```ts
 * const endpoint = await startScriptedEndpoint([respond(functionCall("c1", "exec_command", { cmd: "ls" })), say("done")]);
 * ```
 */
export async function startScriptedEndpoint(
  script: Script,
  options: { port?: number } = {},
): Promise<ScriptedEndpoint> {
  const requests: ReceivedRequest[] = [];
  let failure: unknown;
  const play = async (request: ReceivedRequest, index: number): Promise<Reply> => {
    try {
      const reply = typeof script === "function" ? await script(request, index) : script[index];
      return reply ?? fail(400, `the script has no reply to request ${index + 1}`);
    } catch (error) {
      failure ??= error;
      return fail(400, `the script failed: ${String(error)}`);
    }
  };
  const server = createServer((incoming, response) => {
    response.on("error", () => {}); // the client went away
    void receive(incoming).then(
      async (request) => send(response, await play(request, requests.push(request) - 1)),
      () => response.destroy(),
    );
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    get failure() {
      return failure;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const sent = await text(incoming);
  const { method = "", url = "", headers } = incoming;
  return { method, path: url, headers, text: sent, body: readBody(sent), at: performance.now() };
}

function readBody(sent: string): ReceivedRequest["body"] {
  try {
    return { input: [], tools: [], ...(JSON.parse(sent) as object) };
  } catch {
    return { input: [], tools: [] };
  }
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status ?? 200, reply.headers);
  response.flushHeaders();
  for (const piece of reply.body) {
    if (response.destroyed) return;
    if (typeof piece === "number") await wait(piece);
    else if (!response.write(piece)) await untilDrained(response);
  }
  if (reply.ending === "open") return;
  if (reply.ending === "cut") {
    // What was written is to arrive before the connection breaks.
    response.write("", () => response.destroy());
    return;
  }
  response.end();
}

/** Until more can be written, or nobody reads any more. */
function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
  });
}

/** A call that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  /** Where the client offers the tool inside one. */
  readonly namespace?: string;
  readonly args: object;
}

/** What the model does: each call that it yields comes back with the output that the model was sent. */
export type Conversation = Generator<ScriptedCall, void, string>;

/** A script of one call a response; when the conversation is over the model says `done`. */
export function converse(conversation: Conversation): Script {
  return ({ body }, index) => {
    const { value, done } = conversation.next(lastOutput(body.input));
    if (done === true || value === undefined) return say("done");
    return respond(functionCall(`c${index + 1}`, value.name, value.args, value.namespace));
  };
}

/** The newest output of a call in a request's history, as text; empty when there is none. */
export function lastOutput(input: readonly Item[]): string {
  const output = input.findLast(({ type }) => type.endsWith("_call_output"))?.output ?? "";
  return typeof output === "string" ? output : JSON.stringify(output);
}
