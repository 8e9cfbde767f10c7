import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { functionCall, type Script, type ScriptedEndpoint, startScriptedEndpoint } from "@codex/agent/testing";
import { onTestFinished } from "vitest";
import { finish, type useCommand } from "../support.js";

/** An event of `--json`. */
export interface ShownEvent {
  readonly type: string;
  readonly item?: { readonly type: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

/** A scripted model, a home that is configured for it, and a repository. */
export interface AgentSetup {
  readonly endpoint: ScriptedEndpoint;
  readonly home: string;
  readonly repository: string;
  readonly env: Record<string, string>;
  start(args: readonly string[]): ReturnType<ReturnType<typeof useCommand>["startIn"]>;
  /** Runs `codex exec` with these arguments in the repository. */
  run(args: readonly string[], input?: string): ReturnType<typeof finish>;
}

/** @param config lines of `config.toml` before its tables; `provider` lines of the provider's table */
export async function setUpAgent(
  command: ReturnType<typeof useCommand>,
  script: Script,
  { config = "", provider = "" }: { config?: string; provider?: string } = {},
): Promise<AgentSetup> {
  const endpoint = await startScriptedEndpoint(script);
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex agent-"));
  const [home, repository] = [join(root, "home"), join(root, "repository")];
  for (const directory of [home, repository]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  writeFileSync(
    join(home, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\n${config}\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\nenv_key = "MINE"\n${provider}\n`,
  );
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  const env = { CODEX_HOME: home, MINE: "key-of-the-provider", OPENAI_API_KEY: "" };
  const start = (args: readonly string[]) => command.startIn(repository, ["exec", ...args], env);
  return {
    endpoint,
    home,
    repository,
    env,
    start,
    run(args, input = "") {
      const child = start(args);
      child.stdin.end(input);
      return finish(child);
    },
  };
}

/** A call that runs a command. */
export const shell = (id: string, cmd: string) => functionCall(id, "exec_command", { cmd, login: false });

/** The events of `--json`. */
export const eventsOf = (stdout: Buffer): ShownEvent[] =>
  stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ShownEvent);

/** What the items came to. */
export const itemsOf = (stdout: Buffer) =>
  eventsOf(stdout).flatMap(({ type, item }) => (type === "item.completed" && item !== undefined ? [item] : []));
