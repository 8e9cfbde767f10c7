import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Conversation, converse, startScriptedEndpoint } from "@codex/agent/testing";

export interface ClientOptions {
  cwd: string;
  /** Of the exec-server that is its environment; `files` says without. */
  url?: string | undefined;
  /** More variables of its environment. */
  env?: Readonly<Record<string, string>>;
  /** What `-s` says; `config` decides without. */
  sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  /** More of its configuration, TOML: keys of the root, and tables. */
  config?: { keys?: string; tables?: string };
  /** More files of its home. */
  files?: Readonly<Record<string, string>>;
  /** Kills it. */
  signal?: AbortSignal;
}

/**
 * Runs the real Codex client once, until the script of its model is over. Resolves with its requests to the model.
 * Rejects with what the script threw.
 */
export async function runCodexClient(binary: string, script: Conversation, options: ClientOptions) {
  const { cwd, url, sandbox, config, files = {}, signal } = options;
  const model = await startScriptedEndpoint(converse(script));
  const home = mkdtempSync(join(realpathSync(tmpdir()), "codex-home-"));
  try {
    const configuration = `${config?.keys ?? ""}\n${configFor(model.port)}\n${config?.tables ?? ""}`;
    for (const [name, content] of Object.entries({ ...files, "config.toml": configuration })) {
      writeFileSync(join(home, name), content);
    }
    const mode = sandbox === undefined ? [] : ["-s", sandbox];
    const args = ["exec", "--skip-git-repo-check", ...mode, "-C", cwd, "go"];
    const env = { ...process.env, CODEX_HOME: home, CODEX_EXEC_SERVER_URL: url, ...options.env };
    const client = spawn(binary, args, { env, stdio: "ignore", ...(signal && { signal, killSignal: "SIGKILL" }) });
    await once(client, "exit");
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  }
  if (model.failure !== undefined) throw model.failure;
  return model.requests.map(({ text }) => text);
}

const configFor = (port: number) => `model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
tool_output_token_limit = 1000000
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:${port}/v1"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false
`;
