import { describe, expect, it } from "vitest";
import { useConfig } from "./support.js";

const config = useConfig();
const TRUSTED = '[projects."$BASE/project"]\ntrust_level = "trusted"\n';
const inToml = (command: string, event = "PreToolUse") =>
  `[[hooks.${event}]]\n[[hooks.${event}.hooks]]\ntype = "command"\ncommand = ${JSON.stringify(command)}\n`;
const inJson = (command: string, event = "PreToolUse") =>
  JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: "command", command }] }] } }, null, 1);

/** Command, trust, and whether it runs, of each hook, in their order. */
async function list(files: Record<string, string>, flags: readonly string[] = []) {
  const { hooks } = await config.load({ "project/.git/HEAD": "", ...files }, flags);
  return hooks.map(({ hook, trust, isActive }) => `${hook.command}: ${trust}${isActive ? ", runs" : ""}`);
}

/** The trust that a user has given to the hooks of these files. */
async function trust(files: Record<string, string>): Promise<string> {
  const { hooks } = await config.load(files);
  return hooks
    .map(({ hook: { key, hash } }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${hash}"\n`)
    .join("");
}

describe("hooks of a configuration", () => {
  it("come from all layers in their order, of each first those of hooks.json", async () => {
    const files = {
      "system/requirements.toml": inToml("required"),
      "system/config.toml": inToml("system"),
      "system/hooks.json": inJson("system json"),
      "home/config.toml": `${TRUSTED}${inToml("user")}`,
      "home/hooks.json": inJson("user json"),
      "project/.codex/config.toml": inToml("project"),
    };
    expect(await list(files, ['hooks.PreToolUse=[{hooks=[{type="command",command="flag"}]}]'])).toEqual([
      "required: managed, runs",
      "system json: managed, runs",
      "system: managed, runs",
      "user json: untrusted",
      "user: untrusted",
      "project: untrusted",
      "flag: untrusted",
    ]);
  });

  it("of a project that is not trusted do not exist, whatever is said of them", async () => {
    const files = { "project/.codex/hooks.json": inJson("exit 0"), "project/.codex/config.toml": inToml("exit 0") };
    expect(await list({ "home/config.toml": "", ...files })).toEqual([]);
    const trusted = { "home/config.toml": TRUSTED, ...files };
    expect(await list(trusted)).toHaveLength(2);
    const states = await trust(trusted);
    expect(await list({ ...trusted, "home/config.toml": states })).toEqual([]);
    expect(await list({ ...trusted, "home/config.toml": `${TRUSTED}${states}` })).toEqual(
      Array(2).fill("exit 0: trusted, runs"),
    );
  });

  it("run once they are trusted by the hash of what they do, until they are changed", async () => {
    const states = await trust({ "home/hooks.json": inJson("check") });
    expect(states).toContain("home/hooks.json:pre_tool_use:0:0");
    expect(await list({ "home/config.toml": states })).toEqual(["check: trusted, runs"]);
    expect(await list({ "home/hooks.json": inJson("check ") })).toEqual(["check : modified"]);
    const off = states.replace("trusted_hash", "enabled = false\ntrusted_hash");
    expect(await list({ "home/config.toml": off, "home/hooks.json": inJson("check") })).toEqual(["check: trusted"]);
  });

  it("are trusted and turned off by the user alone: not by a project, and not those of the administrator", async () => {
    const files = { "system/hooks.json": inJson("managed"), "home/hooks.json": inJson("own") };
    const states = await trust(files);
    expect(states).toContain("system/hooks.json");
    const project = { "home/config.toml": TRUSTED, "project/.codex/config.toml": states };
    expect(await list({ ...files, ...project })).toEqual(["managed: managed, runs", "own: untrusted"]);
    const off = states.replaceAll("trusted_hash", "enabled = false\ntrusted_hash");
    expect(await list({ "home/config.toml": off })).toEqual(["managed: managed, runs", "own: trusted"]);
  });

  it("of others do not exist where the administrator allows only their own", async () => {
    const files = { "system/requirements.toml": `allow_managed_hooks_only = true\n${inToml("required")}` };
    expect(await list({ ...files, "home/hooks.json": inJson("own"), "system/config.toml": inToml("system") })).toEqual([
      "required: managed, runs",
      "system: managed, runs",
    ]);
  });

  it("of an administrator have keys that begin with the directory of their programs", async () => {
    const required = inToml("x").replace("[[hooks", '[hooks]\nmanaged_dir = "/opt/hooks"\n[[hooks');
    const { hooks } = await config.load({ "system/requirements.toml": required });
    expect(hooks.map(({ hook }) => hook.key)).toEqual(["/opt/hooks:pre_tool_use:0:0"]);
  });

  it("are turned off together, but by no project, and not where an administrator pins them", async () => {
    const files = { "home/config.toml": TRUSTED, "home/hooks.json": inJson("own") };
    expect(await list(files, ["features.hooks=false"])).toEqual([]);
    expect(await list(files, ["features.codex_hooks=false"])).toEqual([]);
    expect(await list({ ...files, "project/.codex/config.toml": "features.hooks = false" })).toHaveLength(1);
  });

  it.each([
    ["hooks = 3", "config.toml:1: `hooks`: expected a table"],
    ["[hooks]\nPreToolUSe = []", "config.toml:2: `hooks.PreToolUSe`: there is no such event; events are PreToolUse,"],
    ['[hooks]\nPreToolUse = "x"', "config.toml:2: `hooks.PreToolUse`"],
    ['[[hooks.PreToolUse]]\nmatcher = "["', "config.toml:1: `hooks.PreToolUse.0.matcher`"],
    ["[[hooks.Stop]]\nhooks = [{ type = 'http' }]", '`hooks.Stop.0.hooks.0.type`: expected "command"'],
    ["[[hooks.Stop]]\nhooks = [{ type = 'command' }]", "`hooks.Stop.0.hooks.0.command`"],
    ["[[hooks.Stop]]\nhooks = [{ type = 'command', command = ' ' }]", "`hooks.Stop.0.hooks.0.command`: it is empty"],
    ["[[hooks.Stop]]\nhooks = [{ type = 'command', command = 'x', timeout = -1 }]", "`hooks.Stop.0.hooks.0.timeout`"],
    ["[[hooks.Stop]]\nhooks = [{ type = 'command', command = 'x', timeout = 1e9 }]", "`hooks.Stop.0.hooks.0.timeout`"],
  ])("that are none are an error with its place: %j", async (text, message) => {
    await expect(config.load({ "home/config.toml": `${text}\n` })).rejects.toMatchObject({
      name: "ConfigError",
      message: expect.stringMatching(/; `-c features\.hooks=false` turns hooks off$/),
    });
    await expect(config.load({})).rejects.toThrow(message);
    await expect(config.load({}, ["features.hooks=false"])).resolves.toBeDefined();
  });

  it("in a hooks.json with a mark of its encoding are read; what is wrong there has its line", async () => {
    expect(await list({ "home/hooks.json": `\ufeff${inJson("x")}` })).toHaveLength(1);
    const wrong = '{\n "hooks": {\n  "Stop": 3\n } }';
    await expect(config.load({ "home/hooks.json": wrong })).rejects.toThrow(/hooks\.json:3: `hooks\.Stop`/);
    for (const [text, why] of [
      ["{", "it is not JSON"],
      ['{ "hooks": 3 }', "`hooks` is not an object"],
    ] as const) {
      await expect(config.load({ "home/hooks.json": text })).rejects.toThrow(
        `hooks.json: cannot be read, and its hooks may restrict: ${why}`,
      );
    }
  });

  it("that Codex does not run either are told", async () => {
    const prompt = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "prompt", prompt: "?" }] }] } });
    const { hooks, notices } = await config.load({ "home/hooks.json": prompt });
    expect(hooks).toEqual([]);
    expect(notices).toEqual([expect.stringContaining('hooks of type "prompt" do not run')]);
  });
});
