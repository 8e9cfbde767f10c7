import { once } from "node:events";
import { createServer } from "node:http";

const CALL = {
  type: "function_call",
  call_id: "call_1",
  name: "exec_command",
  arguments: '{"cmd":"true","login":false}',
};
const MESSAGE = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] };

/**
 * Runs `use` while a model on this host answers each first request of a thread with a command, and each second one with a message.
 * @param use receives the `config.toml` with which `codex exec` uses that model
 */
export async function withModel(use) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const item = body.includes("function_call_output") ? MESSAGE : CALL;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.output_item.done", output_index: 0, item },
      {
        type: "response.completed",
        response: { id: "resp_1", usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } },
      },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  try {
    await use(
      `model = "model"\nmodel_provider = "build"\n[model_providers.build]\nname = "build"\nbase_url = "${url}"\n`,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
