import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** What the model says next, given the results of its calls so far. */
export type Turn = (results: string[]) => { name: string; args: object };

interface RequestBody {
  input: { type: string; output?: unknown }[];
}

export interface ClientOptions {
  /** What `-s` says; `config` decides without. */
  sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  /** More of its configuration, TOML: keys of the root, then tables. */
  config?: { keys: string; tables: string };
}

/**
 * Runs the real Codex client once, with a model that is a list of turns, in an environment that is the exec-server at
 * `url`. Resolves with the results of the calls and the first request as it was sent.
 */
export async function runCodexClient(
  binary: string,
  url: string,
  cwd: string,
  turns: readonly Turn[],
  { sandbox, config }: ClientOptions = { sandbox: "danger-full-access" },
) {
  const home = mkdtempSync(join(tmpdir(), "codex-home-"));
  const bodies: string[] = [];
  let results: string[] = [];
  const model = createServer((request, response) => {
    void text(request).then((body) => {
      bodies.push(body);
      const { input } = JSON.parse(body) as RequestBody;
      results = input.flatMap(({ type, output }) =>
        type.endsWith("_call_output") ? [typeof output === "string" ? output : JSON.stringify(output)] : [],
      );
      answer(response, bodies.length, turns[bodies.length - 1]?.(results));
    });
  });
  model.listen(0, "127.0.0.1");
  await once(model, "listening");
  const { port } = model.address() as AddressInfo;
  const own = CONFIG.replace("PORT", String(port));
  writeFileSync(join(home, "config.toml"), `${config?.keys ?? ""}\n${own}\n${config?.tables ?? ""}`);
  const mode = sandbox === undefined ? [] : ["-s", sandbox];
  const args = ["exec", "--skip-git-repo-check", ...mode, "-C", cwd, "go"];
  const env = { ...process.env, CODEX_HOME: home, CODEX_EXEC_SERVER_URL: url };
  const client = spawn(binary, args, { env, stdio: "ignore" });
  await once(client, "exit");
  model.closeAllConnections();
  model.close();
  rmSync(home, { recursive: true, force: true });
  return { results, firstRequest: bodies[0] ?? "" };
}

const CONFIG = `model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:PORT/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
`;

function answer(response: ServerResponse, turn: number, call: { name: string; args: object } | undefined): void {
  const send = (event: { type: string }) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const id = `r${turn}`;
  const item =
    call === undefined
      ? { type: "message", role: "assistant", id: `m${turn}`, content: [{ type: "output_text", text: "done" }] }
      : { type: "function_call", call_id: `c${turn}`, name: call.name, arguments: JSON.stringify(call.args) };
  const usage = {
    input_tokens: 1,
    input_tokens_details: null,
    output_tokens: 1,
    output_tokens_details: null,
    total_tokens: 2,
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  send({ type: "response.created", ...{ response: { id } } });
  send({ type: "response.output_item.done", ...{ item } });
  send({ type: "response.completed", ...{ response: { id, usage } } });
  response.end();
}
