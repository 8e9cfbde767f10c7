import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { customCall, functionCall, respond, type Script, say, startScriptedEndpoint } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { codexWords, finish, useCommand } from "./support.js";

const command = useCommand();

/** A home whose model plays a script, and a repository. */
async function setUp(script: Script, config = "") {
  const endpoint = await startScriptedEndpoint(script);
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex exec-"));
  const [home, repository] = [join(root, "home"), join(root, "repository")];
  for (const directory of [home, repository]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  const provider = `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\n${config}\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\nenv_key = "MINE"\n`;
  writeFileSync(join(home, "config.toml"), provider);
  onTestFinished(async () => {
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  const env = { CODEX_HOME: home, MINE: "key-of-the-provider", OPENAI_API_KEY: "" };
  const start = (args: readonly string[]) => command.startIn(repository, ["exec", ...args], env);
  const run = (args: readonly string[], input: string | undefined = "") => {
    const child = start(args);
    child.stdin.end(input);
    return finish(child);
  };
  return { endpoint, home, repository, start, run };
}

const shell = (id: string, cmd: string) => functionCall(id, "exec_command", { cmd, login: false });
const lines = (stdout: Buffer) =>
  stdout
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; [member: string]: unknown });

describe("codex exec", () => {
  it("carries the calls of a model out, and prints its last message alone on stdout", async () => {
    const { endpoint, run } = await setUp([respond(shell("c1", "echo $((6 * 7)); exit 3")), say("It says 42.")]);
    const { code, stdout, stderr } = await run(["What does it say?"]);
    expect([code, stdout.toString()]).toEqual([0, "It says 42.\n"]);
    expect(stderr).toContain("exited with 3");
    const answer = endpoint.requests[1]?.body.input.at(-1);
    expect(answer).toMatchObject({ type: "function_call_output", call_id: "c1" });
    expect(JSON.stringify(answer)).toMatch(/code 3[\s\S]*42/);
  });

  it("prints events as the SDK reads them", async () => {
    const { run } = await setUp([respond(shell("c1", "echo one")), say("done")]);
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    expect(lines(stdout).map(({ type }) => type)).toEqual([
      "thread.started",
      "turn.started",
      "item.started",
      "item.completed",
      "item.completed",
      "turn.completed",
    ]);
    expect(lines(stdout)[3]?.item).toMatchObject({
      type: "command_execution",
      aggregated_output: "one\n",
      exit_code: 0,
    });
  });

  it("sends the key of the provider, and gives it to no command", async () => {
    const { endpoint, run } = await setUp([respond(shell("c1", "env")), say("done")]);
    const { stderr } = await run(["go"]);
    expect(endpoint.requests[0]?.headers.authorization).toBe("Bearer key-of-the-provider");
    expect(stderr).toContain("PATH=");
    expect(stderr).not.toContain("key-of-the-provider");
    expect(endpoint.requests[1]?.text).not.toContain("key-of-the-provider");
  });

  it("makes many calls at once, and warns of nothing", async () => {
    const ids = Array.from({ length: 15 }, (_, index) => `c${index}`);
    const { endpoint, run } = await setUp([respond(...ids.map((id) => shell(id, `echo ${id}`))), say("done")]);
    const { code, stderr } = await run(["--json", "go"]);
    expect([code, stderr]).toEqual([0, ""]);
    const answers = endpoint.requests[1]?.body.input.filter(({ type }) => type === "function_call_output");
    expect(answers?.map(({ call_id }) => call_id)).toEqual(ids);
  });

  it("refuses to the model what needs approval, and goes on", async () => {
    const { endpoint, repository, run } = await setUp([
      respond(shell("c1", "touch made; rm -rf /nowhere")),
      say("done"),
    ]);
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    expect(lines(stdout)[3]?.item).toMatchObject({ status: "declined", exit_code: null });
    expect(readdirSync(repository)).toEqual([".git"]);
    expect(endpoint.requests).toHaveLength(2);
  });

  it("keeps a thread, and goes on with it", async () => {
    const { endpoint, home, run } = await setUp([say("first"), say("second"), say("third")]);
    const id = lines((await run(["--json", "one"])).stdout)[0]?.thread_id as string;
    const [file] = readdirSync(join(home, "sessions"), { recursive: true }).filter((name) =>
      String(name).endsWith(".jsonl"),
    );
    expect(statSync(join(home, "sessions", String(file))).mode & 0o777).toBe(0o600);
    const resumed = await run(["resume", "--json", id, "two"]);
    expect(lines(resumed.stdout)[0]?.thread_id).toBe(id);
    const sent = endpoint.requests[1]?.text ?? "";
    expect(sent.indexOf("first")).toBeGreaterThan(0);
    expect(endpoint.requests[1]?.body.prompt_cache_key).toBe(id);
    const forked = await run(["fork", id, "three", "--json"]);
    expect(lines(forked.stdout)[0]?.thread_id).not.toBe(id);
    expect(endpoint.requests[2]?.text).toContain("second");
  });

  it("sends what changed in the instructions of a project to a thread that goes on, and that they are gone", async () => {
    const { endpoint, repository, run } = await setUp([say("1"), say("2"), say("3"), say("4"), say("5")]);
    const file = join(repository, "AGENTS.md");
    writeFileSync(file, "first\n");
    await run(["go"]);
    const turns: [string | undefined, RegExp | undefined][] = [
      [
        "second\n",
        /^# AGENTS\.md instructions for [^\n]+\n\n<INSTRUCTIONS>\nsecond\n\n<\/INSTRUCTIONS>\nThey replace all /,
      ],
      ["second\n", undefined],
      [undefined, /^# AGENTS\.md instructions\n\nThere are none any more/],
      [undefined, undefined],
    ];
    for (const [index, [text, expected]] of turns.entries()) {
      if (text === undefined) rmSync(file, { force: true });
      else writeFileSync(file, text);
      await run(["resume", "--last", "go on"]);
      const { input } = endpoint.requests[index + 1]!.body;
      const added = input.slice(input.findLastIndex(({ role }) => role === "assistant") + 1);
      const texts = added.flatMap(({ content }) => (content as { text: string }[]).map((part) => part.text));
      expect(texts).toEqual(expected === undefined ? ["go on"] : [expect.stringMatching(expected), "go on"]);
    }
    const [, , context] = endpoint.requests[0]!.body.input;
    const openings = (context!.content as { text: string }[]).map((part) => part.text.slice(0, 11));
    expect(openings).toEqual(["# AGENTS.md", "<environmen"]);
  });

  it("writes the last message to a file, and empties it when the turn fails", async () => {
    const { repository, run } = await setUp((_request, index) =>
      index === 0 ? say("the end") : { status: 400, body: ["{}"] },
    );
    const file = join(repository, "last.txt");
    expect((await run(["-o", file, "go"])).code).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("the end");
    expect((await run(["-o", file, "go"])).code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe("");
  });

  it("ends the turn and its commands on SIGINT, and says so with one terminal event", async () => {
    const { start } = await setUp([respond(shell("c1", "echo began; sleep 1000"))]);
    const child = start(["--json", "--json-deltas", "go"]);
    child.stdin.end();
    let seen = "";
    let isKilled = false; // a second signal would not wait for anything
    child.stdout.on("data", (bytes: Buffer) => {
      seen += bytes;
      if (isKilled || !seen.includes("began\\n")) return;
      isKilled = child.kill("SIGINT");
    });
    const { code, stdout } = await finish(child);
    expect(code).toBe(1);
    const events = lines(stdout);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed" });
    expect(events.filter(({ type }) => type === "turn.failed")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "item.started")).toHaveLength(1);
    expect(events.filter(({ type }) => type === "item.completed")).toHaveLength(1);
  });

  it.each([
    ["no prompt", [], 1, /no prompt/],
    ["an image that is missing", ["-i", "/nowhere.png", "go"], 1, /nowhere\.png/],
    ["a schema that is no JSON", ["--output-schema", "/dev/null", "go"], 1, /not valid JSON/],
    ["a file that cannot be written", ["-o", "/nowhere/x", "go"], 1, /nowhere/],
    ["an image that has no end", ["-i", "/dev/zero", "--", "go"], 1, /it is not a file/],
    ["a schema that has no end", ["--output-schema", "/dev/zero", "go"], 1, /has more than \d+ bytes/],
    [
      "what would repaint the terminal",
      ["-C", "\x1b]0;title\x07\x1b[2J", "go"],
      1,
      /\\u001b\]0;title\\u0007\\u001b\[2J:/,
    ],
    ["an unknown thread", ["resume", "0199aaaa-0000-7000-8000-000000000000", "go"], 1, /no thread/],
    ["a directory that is missing", ["-C", "/nowhere", "go"], 1, /nowhere/],
    ["an executor that cannot be reached", ["--executor", "ws://127.0.0.1:1", "go"], 1, /no executor/],
    ["an unknown option", ["--full-auto", "go"], 2, /--full-auto/],
    ["a provider that is unknown", ["-c", "model_provider=nobody", "go"], 1, /nobody/],
    ["unknown keys, where they are refused", ["--strict-config", "-c", "modle=x", "go"], 1, /modle/],
  ])("asks nothing of the model for %s", async (_name, args, expected, text) => {
    const { endpoint, run } = await setUp([say("never")]);
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout.toString()]).toEqual([expected, ""]);
    expect(stderr).toMatch(text);
    expect(endpoint.requests).toHaveLength(0);
  });

  it("does not work outside of a repository unless it is told to", async () => {
    const { home, endpoint, run } = await setUp([say("done")]);
    mkdirSync(join(home, ".git")); // as a sandbox leaves it: no repository
    const refused = await run(["-C", home, "go"]);
    expect([refused.code, endpoint.requests.length]).toEqual([1, 0]);
    expect(refused.stderr).toContain("--skip-git-repo-check");
    expect((await run(["-C", home, "--skip-git-repo-check", "go"])).code).toBe(0);
  });

  it("marks a project as trusted where that is asked for, and an untrusted one not", async () => {
    const { home, repository, run } = await setUp((request) =>
      request.body.input.length < 6 ? respond(shell("c1", "touch made")) : say("done"),
    );
    expect((await run(["--trust", "go"])).code).toBe(0);
    expect(readFileSync(join(home, "config.toml"), "utf8")).toContain(
      `[projects."${repository}"]\ntrust_level = "trusted"\n`,
    );
    const marked = readFileSync(join(home, "config.toml"), "utf8");
    writeFileSync(join(home, "config.toml"), marked.replace('"trusted"', '"untrusted"'));
    expect((await run(["--trust", "go"])).stderr).toContain("untrusted");
    expect((await run(["--trust", "--executor", "ws://127.0.0.1:1", "go"])).code).toBe(2);
  });

  it("leaves out the user's settings and rules where that is asked for", async () => {
    const { endpoint, home, repository, run } = await setUp(
      (_request, index) => (index % 2 === 0 ? respond(shell("c1", "echo one")) : say("done")),
      'sandbox_mode = "danger-full-access"\n',
    );
    mkdirSync(join(home, "rules"));
    writeFileSync(join(home, "rules", "default.rules"), 'prefix_rule(pattern=["echo"], decision="forbidden")\n');
    const outputs = () => JSON.stringify(endpoint.requests.at(-1)?.body.input.at(-1));
    await run(["go"]);
    expect(outputs()).toContain("forbidden");
    await run(["--ignore-rules", "go"]);
    expect(outputs()).toContain("one");
    const provider = ["model_provider=mine", `model_providers.mine={name="M", base_url="${endpoint.url}"}`];
    const settings = [...provider, "allow_login_shell=false"].flatMap((setting) => ["-c", setting]);
    const { stderr } = await run(["--ignore-user-config", "--ignore-rules", ...settings, "-C", repository, "go"]);
    expect(stderr).toMatch(/sandbox: read-only/);
    expect(endpoint.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it.each(["this host", "an executor", "an exec-server"])(
    "runs, patches and reads instructions on %s",
    async (where) => {
      const patch = "*** Begin Patch\n*** Add File: new.txt\n+two\n*** Delete File: AGENTS.md\n*** End Patch";
      const script = [respond(shell("c1", "cat AGENTS.md"), customCall("c2", "apply_patch", patch)), say("done")];
      const { endpoint, repository, run } = await setUp(script, 'sandbox_mode = "danger-full-access"');
      writeFileSync(join(repository, "AGENTS.md"), "Be brief.\n");
      const { code, stdout } = await run([
        ...(await placeOf(where)),
        "-C",
        repository,
        "-m",
        "gpt-5.5",
        "--json",
        "go",
      ]);
      expect(code).toBe(0);
      expect(readdirSync(repository).sort()).toEqual([".git", "new.txt"]);
      expect(readFileSync(join(repository, "new.txt"), "utf8")).toBe("two\n");
      expect(endpoint.requests[0]?.text).toContain("Be brief.");
      const items = lines(stdout).filter(({ type }) => type === "item.completed");
      expect(items.map(({ item }) => item)).toMatchObject([
        { type: "command_execution", aggregated_output: "Be brief.\n" },
        { type: "file_change", status: "completed" },
        { type: "agent_message", text: "done" },
      ]);
    },
  );

  it("goes on with a thread in another place only where that is named", async () => {
    const { endpoint, home, repository, run } = await setUp([
      say("first"),
      respond(shell("c1", "touch made")),
      say("done"),
    ]);
    const toml = `[[environments]]\nid = "far"\nurl = "${(await command.listen()).url}"\n`;
    writeFileSync(join(home, "environments.toml"), toml);
    const first = await run(["--environment", "far", "-C", repository, "--json", "go"]);
    const id = lines(first.stdout)[0]?.thread_id as string;
    for (const choice of [
      ["resume", id],
      ["resume", "--last"],
      ["fork", id],
    ]) {
      const { code, stderr } = await run([...choice, "more"]);
      expect([code, endpoint.requests.length, readdirSync(repository)]).toEqual([1, 1, [".git"]]);
      expect(stderr).toContain('ran on "far", and this is `local`: nothing was run; --environment "far"');
    }
    const named = await run(["resume", "--environment", "far", id, "more"]);
    expect([named.code, endpoint.requests.length]).toEqual([0, 3]);
  });

  async function placeOf(where: string): Promise<string[]> {
    if (where === "this host") return [];
    if (where === "an executor") return ["--executor", (await command.listen()).url];
    return ["--executor", `${codexWords} exec-server --listen stdio`];
  }
});
