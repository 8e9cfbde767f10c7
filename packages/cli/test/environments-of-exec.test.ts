import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "./support.js";

const command = useCommand();

async function listenExecServer(mark: string): Promise<string> {
  const child = command.start(["exec-server", "--listen", "ws://127.0.0.1:0"], { MARK: mark });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return url;
}

it("a model names one of several environments; what cannot be reached runs nowhere else", async () => {
  const [a, b] = [await listenExecServer("host-a"), await listenExecServer("host-b")];
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex environments-"));
  const [home, repository] = [join(root, "home"), join(root, "repository")];
  for (const directory of [home, repository]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  const run = (id: string, cmd: string, environment?: string) =>
    functionCall(id, "exec_command", {
      cmd,
      login: false,
      ...(environment === undefined ? {} : { environment_id: environment }),
    });
  const made = join(root, "made");
  const endpoint = await startScriptedEndpoint([
    respond(run("c1", "echo $MARK")),
    respond(run("c2", "echo $MARK", "b")),
    respond(run("c3", `touch '${made}'`, "down")),
    respond(run("c4", "echo here $MARK $PWD", "local")),
    say("done"),
  ]);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  writeFileSync(
    join(home, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\nsandbox_mode = "danger-full-access"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  const down = `[[environments]]\nid = "down"\nurl = "ws://user:s3cret@127.0.0.1:1/x?key=s3cret"\n`;
  const up = (id: string, url: string) => `[[environments]]\nid = "${id}"\nurl = "${url}"\n`;
  writeFileSync(join(home, "environments.toml"), `default = "a"\n${up("a", a)}${up("b", b)}${down}`);
  const child = command.startIn(repository, ["exec", "--json", "go"], { CODEX_HOME: home, OPENAI_API_KEY: "" });
  child.stdin.end();
  const { code, stdout } = await finish(child);
  expect(code).toBe(0);
  const [first] = endpoint.requests;
  const tool = first?.body.tools.find((each) => Reflect.get(each, "name") === "exec_command");
  expect(JSON.stringify(tool)).toContain('"enum":["a","local","b","down"]');
  expect(first?.text).toMatch(/environment id=\\"a\\" primary=\\"true\\"/);
  expect(first?.text).toMatch(/environment id=\\"b\\".{0,60}connected on first use/);
  const outputs = endpoint.requests.slice(1).map(({ body }) => String(body.input.at(-1)?.output));
  expect(outputs[0]).toMatch(/Environment: a[\s\S]*host-a/);
  expect(outputs[1]).toMatch(/Environment: b[\s\S]*host-b/);
  expect(outputs[2]).toMatch(/`down` cannot be used: [\s\S]*Nothing was run/);
  expect(outputs[3]).toMatch(new RegExp(`Environment: local[\\s\\S]*here ${repository}`));
  expect(existsSync(made)).toBe(false);
  expect(endpoint.requests.map(({ text }) => text).join("")).not.toContain("s3cret");
  const lines = stdout.toString().trimEnd().split("\n");
  const items = lines.map((line) => JSON.parse(line) as { type: string; item?: Record<string, unknown> });
  const completed = items.flatMap(({ type, item }) =>
    type === "item.completed" && item?.type === "command_execution" ? [item] : [],
  );
  expect(completed.map(({ environment }) => environment)).toEqual(["a", "b", "down", "local"]);
});

it("many environments are no executors before they are used; beyond their own limit nothing starts", async () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex environments-"));
  const repository = join(root, "repository");
  execFileSync("git", ["init", "-q", repository]);
  const endpoint = await startScriptedEndpoint([
    respond(functionCall("c1", "exec_command", { cmd: "echo here", login: false })),
    say("done"),
  ]);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  writeFileSync(
    join(root, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\nsandbox_mode = "danger-full-access"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  const run = async (count: number) => {
    const tables = Array.from(
      { length: count },
      (_, at) => `[[environments]]\nid = "e${at}"\nurl = "ws://127.0.0.1:1"\n`,
    );
    writeFileSync(join(root, "environments.toml"), tables.join(""));
    const child = command.startIn(repository, ["exec", "go"], { CODEX_HOME: root, OPENAI_API_KEY: "" });
    child.stdin.end();
    return finish(child);
  };
  const tooMany = await run(1025);
  expect(tooMany.code).toBe(1);
  expect(tooMany.stderr.toString()).toContain("there are 1024 environments (limit 1024 environments)");
  expect(endpoint.requests).toHaveLength(0);
  const many = await run(200);
  expect({ code: many.code, stdout: many.stdout.toString() }).toEqual({ code: 0, stdout: "done\n" });
  expect(String(endpoint.requests[1]?.body.input.at(-1)?.output)).toMatch(/Environment: local[\s\S]*here/);
});

it("an environment without a skill that its configuration requires is used for nothing", async () => {
  const url = await listenExecServer("host");
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex environments-"));
  const repository = join(root, "repository");
  mkdirSync(repository);
  execFileSync("git", ["init", "-q", repository]);
  const endpoint = await startScriptedEndpoint([say("done")]);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  writeFileSync(
    join(root, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  const run = async (more = "") => {
    const far = `[[environments]]\nid = "far"\nurl = "${url}"\nskills = { required = ["x"] }\n`;
    writeFileSync(join(root, "environments.toml"), `default = "far"\n${far}${more}`);
    const env = { CODEX_HOME: root, OPENAI_API_KEY: "" };
    const child = command.startIn(repository, ["exec", "-C", repository, "go"], env);
    child.stdin.end();
    const { code, stderr } = await finish(child);
    return [code, /environment `\w+` (?:has no skill "\w+"|could not be checked)/.exec(stderr)?.[0]];
  };
  rmSync(join(repository, ".git"), { recursive: true });
  expect(await run()).toEqual([1, undefined]); // not in a repository there
  expect(endpoint.requests).toHaveLength(0);
  execFileSync("git", ["init", "-q", repository]);
  expect(await run()).toEqual([1, 'environment `far` has no skill "x"']);
  mkdirSync(join(repository, ".agents/skills/x"), { recursive: true });
  writeFileSync(join(repository, ".agents/skills/x/SKILL.md"), "---\nname: x\ndescription: d\n---\n");
  const down = '[[environments]]\nid = "down"\nurl = "ws://127.0.0.1:1"\nskills = { required = ["x"] }\n';
  expect(await run(down)).toEqual([1, "environment `down` could not be checked"]);
  expect(endpoint.requests).toHaveLength(0);
  expect(await run()).toEqual([0, undefined]);
});

it("a session whose exec-server was killed is lost, with its environment and the reason, and not reported as running", async () => {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex environments-"));
  const [home, repository] = [join(root, "home"), join(root, "repository")];
  for (const directory of [home, repository]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  const server = command.start(["exec-server", "--listen", "ws://127.0.0.1:0"]);
  const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  const run = (id: string, cmd: string) => functionCall(id, "exec_command", { cmd, login: false, yield_time_ms: 300 });
  const killed = once(server, "exit");
  const endpoint = await startScriptedEndpoint(async (_request, index) => {
    if (index === 0) return respond(run("c1", "echo started; sleep 60"));
    server.kill("SIGKILL");
    await killed;
    return index === 1 ? respond(run("c2", "echo never")) : say("done");
  });
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  writeFileSync(
    join(home, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nsandbox_mode = "danger-full-access"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  writeFileSync(join(home, "environments.toml"), `default = "gpu"\n[[environments]]\nid = "gpu"\nurl = "${url}"\n`);
  const child = command.startIn(repository, ["exec", "--skip-git-repo-check", "go"], {
    CODEX_HOME: home,
    OPENAI_API_KEY: "",
  });
  child.stdin.end();
  const { stderr } = await finish(child);
  expect(stderr).not.toMatch(/still r/);
  expect(stderr).toMatch(/lost: environment `gpu` cannot be reached: the connection was lost/);
  expect(String(endpoint.requests.at(-1)?.body.input.at(-1)?.output)).toContain("environment `gpu`");
});
