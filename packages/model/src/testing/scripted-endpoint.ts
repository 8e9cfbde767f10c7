import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { Item } from "../items.js";
import { functionCall } from "./items.js";
import { fail, type Reply, respond, say } from "./replies.js";

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Raw body. */
  readonly text: string;
  /** Parsed body; `input` and `tools` are empty when it is invalid JSON. */
  readonly body: {
    readonly input: readonly Item[];
    readonly tools: readonly object[];
    readonly [member: string]: unknown;
  };
  /** `performance.now()` when it was fully received, milliseconds. */
  readonly at: number;
}

/** Replies in order, or a function that creates them; a request without a reply gets status 400. */
export type Script = readonly Reply[] | ((request: ReceivedRequest, index: number) => Reply | Promise<Reply>);

/** An endpoint on loopback that replies according to a script. */
export interface ScriptedEndpoint {
  /** Value for `base_url`. */
  readonly url: string;
  readonly port: number;
  /** Requests so far, oldest first. */
  readonly requests: readonly ReceivedRequest[];
  /** First error thrown by the script. */
  readonly failure: unknown;
  /** Closes the server and all connections. */
  close(): Promise<void>;
  /** Same as `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts an HTTP server of the Responses API for tests and examples.
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
    response.on("error", () => {}); // the client disconnected
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
    // Flush what was written before the connection breaks.
    response.write("", () => response.destroy());
    return;
  }
  response.end();
}

/** Resolves when the response is writable again, or closed. */
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
  /** Namespace in which the client offers the tool. */
  readonly namespace?: string;
  readonly args: object;
}

/** Yields the model's calls; `yield` evaluates to the output that the client sent. */
export type Conversation = Generator<ScriptedCall, void, string>;

/** Creates a script with one call per response; at the end the model says `done`. */
export function converse(conversation: Conversation): Script {
  return ({ body }, index) => {
    const { value, done } = conversation.next(lastOutput(body.input));
    if (done === true || value === undefined) return say("done");
    return respond(functionCall(`c${index + 1}`, value.name, value.args, value.namespace));
  };
}

/** Latest call output in a request's input, as text; empty when there is none. */
export function lastOutput(input: readonly Item[]): string {
  const output = input.findLast(({ type }) => type.endsWith("_call_output"))?.output ?? "";
  return typeof output === "string" ? output : JSON.stringify(output);
}
