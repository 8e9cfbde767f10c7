import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { functionCall, respond, say, startScriptedEndpoint } from "@codex/agent/testing";
import { expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "./support.js";

const command = useCommand();
const codex = resolve(import.meta.dirname, "../dist/codex.js");
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const shell = (id: string, cmd: string, environment = {}) =>
  functionCall(id, "exec_command", { cmd, login: false, ...environment });
const patch = (id: string, file: string, environment = {}) => {
  const input = ["*** Begin Patch", `*** Add File: ${file}`, "+new", "*** End Patch", ""].join("\n");
  return functionCall(id, "apply_patch", { input, ...environment });
};
const view = (id: string, path: string, environment = {}) => functionCall(id, "view_image", { path, ...environment });

/** A program that serves its environment while a file is there. */
const program = (id: string, flag: string, cwd: string) =>
  `[[environments]]\nid = "${id}"\nprogram = "/bin/sh"\nargs = ["-c", 'test -e "$0" && exec "$1" "$2" exec-server --listen stdio', ${[flag, process.execPath, codex].map((text) => JSON.stringify(text)).join(", ")}]\nenv = { MARK = "host-${id}" }\ncwd = ${JSON.stringify(cwd)}\n`;

const FAR = `[[environments]]\nid = "far"\nurl = "ws://user:s3cret@127.0.0.1:1/x?key=s3cret"\n`;

async function setUp(script: Parameters<typeof startScriptedEndpoint>[0], sandboxMode = "danger-full-access") {
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex default-"));
  const [home, repository, elsewhere] = [join(root, "home"), join(root, "repository"), join(root, "elsewhere")];
  for (const directory of [home, repository, elsewhere]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  writeFileSync(join(elsewhere, "one.png"), Buffer.from(PNG, "base64"));
  const endpoint = await startScriptedEndpoint(script);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  writeFileSync(
    join(home, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\nsandbox_mode = "${sandboxMode}"\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  return {
    endpoint,
    home,
    repository,
    elsewhere,
    flag: join(root, "flag"),
    configure: (text: string) => writeFileSync(join(home, "environments.toml"), text),
    run(args: readonly string[] = []) {
      const child = command.startIn(repository, ["exec", ...args, "go"], { CODEX_HOME: home, OPENAI_API_KEY: "" });
      child.stdin.end();
      return finish(child);
    },
    outputs: () => endpoint.requests.slice(1).map(({ body }) => JSON.stringify(body.input.at(-1)?.output)),
  };
}

it("a default that is down: the model reads why, nothing runs anywhere, and it is tried again", async () => {
  const calls = [shell("c1", "touch made"), patch("c2", "made"), view("c3", "one.png"), shell("c4", "echo $MARK $PWD")];
  const { configure, elsewhere, endpoint, flag, outputs, repository, run } = await setUp((_request, index) => {
    if (index === 3) writeFileSync(flag, "");
    const call = calls[index];
    return call === undefined ? say("done") : respond(call);
  });
  configure(`default = "box"\n${program("box", flag, elsewhere)}${FAR}`);
  const { code, stderr } = await run();
  expect(code).toBe(0);
  expect(stderr).toMatch(/environment `box`.*; what needs it fails until it is back/);
  expect(endpoint.requests[0]?.text).toMatch(
    /<environment id=\\"box\\" primary=\\"true\\">\\n\s*<status>failed<\/status>\\n\s*<error>/,
  );
  const [command, change, picture, later] = outputs();
  expect(command).toMatch(/`box` cannot be used: .*Nothing was run/);
  expect(change).toMatch(/`box` cannot be used: .*Nothing was changed/);
  expect(picture).toMatch(/`box` cannot be used: /);
  expect(later).toContain(`host-box ${elsewhere}`);
  expect([readdirSync(repository), existsSync(join(elsewhere, "made"))]).toEqual([[".git"], false]);
});

it("an address that is down is shown without its secrets", async () => {
  const { configure, endpoint, outputs, repository, run } = await setUp([
    respond(shell("c1", "touch made")),
    say("done"),
  ]);
  configure(`default = "far"\ninclude_local = false\n${FAR}`);
  const { code, stderr } = await run();
  expect([code, readdirSync(repository)]).toEqual([0, [".git"]]);
  expect(outputs()[0]).toMatch(/`far` cannot be used: .*Nothing was run/);
  expect(endpoint.requests.map(({ text }) => text).join("") + stderr).not.toContain("s3cret");
});

it("a fallback that is configured is used, and every answer says so", async () => {
  const script = [shell("c1", "echo $MARK"), patch("c2", "made"), view("c3", "one.png")].map((call) => respond(call));
  const { configure, elsewhere, flag, home, outputs, repository, run } = await setUp([...script, say("done")]);
  writeFileSync(flag, "");
  configure(`default = "far"\n${FAR}${program("box", flag, elsewhere)}`);
  writeFileSync(join(home, "environments-ts.toml"), `[extend.far]\nfallback = "box"\n`);
  const { code, stderr } = await run();
  expect(code).toBe(0);
  expect(stderr).toMatch(/its fallback is `box`/);
  const [command, change, picture] = outputs();
  for (const output of [command, change, picture]) {
    expect(output).toMatch(/environment `far` cannot be used \(.*`box`, its configured fallback/);
  }
  expect(command).toContain("host-box");
  expect(readFileSync(join(elsewhere, "made"), "utf8")).toBe("new\n");
  expect(picture).toContain("data:image/png;base64");
  expect(readdirSync(repository)).toEqual([".git"]);
});

it("without an environment no tool that needs one is offered", async () => {
  const { configure, endpoint, outputs, repository, run } = await setUp([
    respond(shell("c1", "touch made")),
    say("done"),
  ]);
  configure(`default = "none"\n${FAR}`);
  expect((await run()).code).toBe(0);
  const names = endpoint.requests[0]?.body.tools.map((tool) => Reflect.get(tool, "name"));
  for (const name of ["exec_command", "write_stdin", "apply_patch", "view_image"]) expect(names).not.toContain(name);
  expect(endpoint.requests[0]?.text).not.toContain("<environments>");
  expect(outputs()[0]).toMatch(/Nothing was run/);
  expect(readdirSync(repository)).toEqual([".git"]);
});

it.each([
  ["an environment that is down", "far", 1],
  ["an unknown environment", "missing", 2],
])("asks nothing of the model where %s is named", async (_name, id, expected) => {
  const { configure, endpoint, run } = await setUp([say("never")]);
  configure(FAR);
  const { code, stderr } = await run(["--environment", id]);
  expect([code, endpoint.requests.length]).toEqual([expected, 0]);
  expect(stderr).toContain(id);
  expect(stderr).not.toContain("s3cret");
});

it("patches and pictures are those of the environment that a call names", async () => {
  const there = { environment_id: "box" };
  const named = "*** Begin Patch\n*** Environment ID: box\n*** Add File: named\n+new\n*** End Patch\n";
  const script = [
    patch("c1", "made", there),
    view("c2", "one.png", there),
    patch("c3", "here"),
    functionCall("c4", "apply_patch", { input: named }),
  ];
  const { configure, elsewhere, flag, outputs, repository, run } = await setUp([
    ...script.map((call) => respond(call)),
    say("done"),
  ]);
  writeFileSync(flag, "");
  configure(`${program("box", flag, elsewhere)}`);
  expect((await run()).code).toBe(0);
  expect(outputs()[1]).toContain("data:image/png;base64");
  expect([readdirSync(elsewhere).sort(), readdirSync(repository).sort()]).toEqual([
    ["made", "named", "one.png"],
    [".git", "here"],
  ]);
});

it("patches are held by the sandbox of the environment that they name", async () => {
  const script = [respond(patch("c1", "made", { environment_id: "box" })), say("done")];
  const { configure, elsewhere, flag, outputs, run } = await setUp(script, "read-only");
  writeFileSync(flag, "");
  configure(`${program("box", flag, elsewhere)}`);
  expect((await run()).code).toBe(0);
  expect(outputs()[0]).toMatch(/rejected.*Nothing was changed/);
  expect(existsSync(join(elsewhere, "made"))).toBe(false);
});
