import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A call that the model makes. */
export interface ModelCall {
  /** Of the tool; `namespace` where the client offers it inside one. */
  name: string;
  namespace?: string;
  args: object;
}

/** What the model does: each call that it yields comes back with the result as the model was told it. */
export type Script = Generator<ModelCall, void, string>;

/** What the client sends to the model. */
interface ModelRequest {
  input: { type: string; output?: unknown }[];
  tools: object[];
}

export interface ScriptedModel {
  readonly port: number;
  /** Requests so far, as they were sent. */
  readonly requests: readonly string[];
  /** What the script threw. */
  readonly failure: unknown;
  close(): void;
}

/** An HTTP server that the client takes for its model. A script that throws ends like one that is done. */
export async function startScriptedModel(script: Script): Promise<ScriptedModel> {
  const requests: string[] = [];
  let failure: unknown;
  const advance = (result: string): ModelCall | undefined => {
    try {
      const { value, done } = script.next(result);
      return done === true ? undefined : (value as ModelCall);
    } catch (error) {
      failure = error;
      return undefined;
    }
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(body);
      answer(response, requests.length, advance(lastResult(JSON.parse(body) as ModelRequest)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get failure() {
      return failure;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function lastResult({ input }: ModelRequest): string {
  const output = input.findLast(({ type }) => type.endsWith("_call_output"))?.output ?? "";
  return typeof output === "string" ? output : JSON.stringify(output);
}

function answer(response: ServerResponse, turn: number, call: ModelCall | undefined): void {
  const send = (event: { type: string; [member: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const id = `r${turn}`;
  const { args, ...tool } = call ?? { args: {} };
  const item =
    call === undefined
      ? { type: "message", role: "assistant", id: `m${turn}`, content: [{ type: "output_text", text: "done" }] }
      : { type: "function_call", call_id: `c${turn}`, ...tool, arguments: JSON.stringify(args) };
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ type: "response.created", response: { id } });
  send({ type: "response.output_item.done", item });
  send({ type: "response.completed", response: { id, usage: USAGE } });
  response.end();
}

const USAGE = {
  input_tokens: 1,
  input_tokens_details: null,
  output_tokens: 1,
  output_tokens_details: null,
  total_tokens: 2,
};
