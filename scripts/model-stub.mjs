import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CALL = {
  type: "function_call",
  call_id: "call_1",
  name: "exec_command",
  arguments: '{"cmd":"true","login":false}',
};
const MESSAGE = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] };

/**
 * Runs `use` while a model on this host answers each first request of a thread with a command, and each second one with a message.
 * @param use receives an environment in which `codex exec` uses that model, and a directory to work in
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
  const directory = mkdtempSync(join(tmpdir(), "codex-build-"));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  const config = `model = "model"\nmodel_provider = "build"\n[model_providers.build]\nname = "build"\nbase_url = "${url}"\n`;
  writeFileSync(join(directory, "config.toml"), config);
  try {
    await use({ env: { ...process.env, CODEX_HOME: directory }, directory });
  } finally {
    server.closeAllConnections();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
