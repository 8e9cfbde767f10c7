import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listFlags } from "../../src/flags.js";
import { loadConfig } from "../../src/load-config.js";

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "codex-restrictions-")));
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function load(files: Record<string, string>, options: { flags?: string[]; profile?: string } = {}) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), text.replaceAll("$BASE", base));
  }
  await mkdir(join(base, "project/.git"), { recursive: true });
  return loadConfig({
    home: join(base, "home"),
    homeOrigin: { kind: "default" },
    system: join(base, "system"),
    managedPreferences: [join(base, "preferences.plist")],
    directory: join(base, "project"),
    profile: options.profile,
    flags: (options.flags ?? []).map((setting) => ({ flag: `-c ${setting}`, setting })),
  });
}

const NETWORK = `sandbox_mode = "workspace-write"
[sandbox_workspace_write]
network_access = true
[features.network_proxy]
enabled = true
enable_socks5 = false
`;
const SOCKS = "features.network_proxy.enable_socks5=false";
const HOOKS_JSON = JSON.stringify(
  { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "exit 2" }] }] } },
  null,
  1,
);
const TRUSTED = '[projects."$BASE/project"]\ntrust_level = "trusted"\n';

describe("what a configuration restricts, and is not supported, is an error with its place and how to go on", () => {
  it.each<[string, Record<string, string>, string]>([
    ["hosts", { "home/config.toml": NETWORK }, "home/config.toml:6: `features.network_proxy.enable_socks5`"],
    [
      "perhaps hosts",
      { "home/config.toml": "[features.network_proxy]\nenabled = true\ndenied_domains = []" },
      "config.toml:3: `features.network_proxy.denied_domains`",
    ],
    [
      "hosts, by the administrator",
      { "system/config.toml": NETWORK },
      "system/config.toml:6: `features.network_proxy.enable_socks5`",
    ],
    [
      "hosts, by a project",
      { "home/config.toml": TRUSTED, "project/.codex/config.toml": NETWORK },
      "project/.codex/config.toml:6:",
    ],
    ["perhaps hooks", { "home/hooks.json": "{" }, "home/hooks.json: cannot be read, and its hooks may restrict"],
    ["tools", { "home/config.toml": "[features]\nshell_tool = false" }, "home/config.toml:2: `features.shell_tool`"],
    [
      "masked credentials",
      { "home/config.toml": "features.credential_masking = true" },
      "`features.credential_masking`",
    ],
    ["a skill", { "home/config.toml": '[[skills.config]]\npath = "/s/SKILL.md"\nenabled = false' }, "`skills.config`"],
    [
      "how to sign in",
      { "home/config.toml": 'forced_login_method = "chatgpt"' },
      "config.toml:1: `forced_login_method`",
    ],
    [
      "questions of servers",
      {
        "home/config.toml":
          "approval_policy.granular = { sandbox_approval = true, rules = true, mcp_elicitations = false }",
      },
      "`approval_policy.granular.mcp_elicitations`",
    ],
    ...[
      ["features.shell_tool", '"false"'],
      ["orchestrator.mcp.enabled", '"false"'],
      ["skills.config", '[{ path = "/x", enabled = "false" }]'],
      ["mcp_servers.x.omit_tools_from", '"direct"'],
      ["experimental_thread_store", '"in_memory"'],
    ].map<[string, Record<string, string>, string]>(([key, value]) => [
      `a value of a wrong type: ${key} = ${value}`,
      { "home/config.toml": `${key} = ${value}` },
      `\`${key}\` restricts`,
    ]),
  ])("%s", async (_, files, place) => {
    const failed = await load(files).catch((error: unknown) => error as Error);
    expect(failed).toMatchObject({ name: "ConfigError", message: expect.stringContaining(place) });
    expect(failed).toMatchObject({
      message: expect.stringMatching(/not supported here: .+; .+|features\.hooks=false/),
    });
  });

  it("hooks of a plugin that is not turned off", async () => {
    const files = {
      "home/config.toml": '[plugins."lint@shop"]\nenabled = true\n',
      "home/plugins/cache/shop/lint/1.0.0/hooks/hooks.json": HOOKS_JSON,
    };
    await expect(load(files)).rejects.toThrow(/lint\/1\.0\.0\/hooks\/hooks\.json:3: `hooks\.PreToolUse` restricts/);
    for (const flag of ["features.plugins=false", "features.hooks=false", 'plugins."lint@shop".enabled=false']) {
      await expect(load(files, { flags: [flag] }), flag).resolves.toBeDefined();
    }
  });

  it("in a profile, and in a flag, which is named", async () => {
    await expect(load({ "home/strict.config.toml": NETWORK }, { profile: "strict" })).rejects.toThrow(
      "strict.config.toml:6:",
    );
    await expect(load({}, { flags: ["features.network_proxy.enabled=true", SOCKS] })).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(`flag -c ${SOCKS}: \`features.network_proxy.enable_socks5\``),
    });
  });

  it("unless a later layer takes it back, which a project cannot", async () => {
    const files = { "home/config.toml": `${NETWORK}${TRUSTED}` };
    const flags = ["features.network_proxy.enabled=false"];
    await expect(load(files, { flags })).resolves.toBeDefined();
    const project = { "project/.codex/config.toml": "features.network_proxy = false" };
    await expect(load({ ...files, ...project })).rejects.toThrow(
      "home/config.toml:6: `features.network_proxy.enable_socks5`",
    );
  });

  it.each([
    ["[features]\nhooks = false\nnetwork_proxy = false\nshell_tool = true\napps = false"],
    ['[features.network_proxy.domains]\n"example.com" = "allow"'],
    ['[hooks]\n[hooks.state."x"]\ntrusted_hash = "y"\n[[hooks.PreToolUse]]\nmatcher = "Bash"'],
    ["[[hooks.SessionEnd]]\n[[hooks.SessionEnd.hooks]]\ntype = 'command'\ncommand = 'true'"],
    ["[mcp_servers]\n[permissions]\n[permissions.mine.network]\nenabled = false\n[tui]\nanimations = false"],
    ['[[skills.config]]\npath = "/s/SKILL.md"\nenabled = true'],
    ['[features.network_proxy]\ndomains = { "a.example" = "allow" }\n[hooks.state.x]\nenabled = true'],
    ['forced_login_method = "api"\napprovals_reviewer = "auto_review"'],
  ])("not what restricts nothing: %j", async (text) => {
    const { notices } = await load({ "home/config.toml": `${text}\n`, "home/hooks.json": '{ "hooks": {} }' });
    expect(notices).toEqual([]);
  });
});

describe("what requirements.toml restricts, and is not supported or not known, is an error with its place", () => {
  it.each([
    ['allowed_approval_policies = ["never"]\nremote_sandbox_config = []', "2: `remote_sandbox_config`"],
    ["[mcp_servers.docs]", "1:1: `mcp_servers.docs`"],
    ["[mcp_servers.docs.identity]\ncommand = 3", "1:1: `mcp_servers.docs`"],
    ['mcp_servers.docs.identity = { command = "docs", args = ["b"] }', "1:1: `mcp_servers.docs`"],
    ["mcp_servers = 3", "1:1: `mcp_servers`"],
    [
      "[experimental_network]\nenabled = true\ndanger_full_access_denylist_only = true",
      "3: `experimental_network.danger_full_access_denylist_only`",
    ],
    ["[experimental_network]\nenabled = true\nallowed = []", "3: `experimental_network.allowed`"],
    ["[experimental_network]\nenabled = 1", "2:1: `experimental_network.enabled`"],
    ["[permissions.network]\nenabled = true", "1: `permissions.network`"],
    ["[permissions.filesystem]\ndeny_read = []\ndeny_write = []", "3: `permissions.filesystem.deny_write`"],
    ["[features]\nshell_tool = false", "2: `features.shell_tool`"],
    ["[features]\nzork = true", "2: `features.zork` is not known here"],
    ["features = 3", "1: `features` is not known here"],
    ['enforce_residency = "us"', "1: `enforce_residency`"],
    ["zork = 1", "1: `zork` is not known here"],
    ['[[rules.prefix_rules]]\npattern = [{ token = "a" }]\ndecision = "prompt"\nzork = 1', "1: `rules.prefix_rules"],
    ['allowed_approvals_reviewers = ["auto_review"]', "1:1: `allowed_approvals_reviewers`"],
    ['[features]\nnetwork_proxy = "true"', "2:1: `features.network_proxy`"],
    ['[hooks]\nPreToolUse = "x"', "2: `hooks.PreToolUse`"],
    ["allow_managed_hooks_only = 1", "1:1: `allow_managed_hooks_only`"],
    ['allow_remote_control = "false"', "1: `allow_remote_control`"],
    ["[audit]\nzork = 1", "2: `audit.zork` is not known here"],
    ['[otel.exporter.otlp-http]\nendpoint = "https://e"', "1: `otel`"],
  ])("%j", async (text, place) => {
    await expect(load({ "system/requirements.toml": `${text}\n` })).rejects.toThrow(`requirements.toml:${place}`);
  });

  it("features that it pins cannot be taken back", async () => {
    const files = { "system/requirements.toml": "[features]\nhooks = true\n", "home/hooks.json": HOOKS_JSON };
    const flags = ["features.hooks=false"];
    expect((await load(files, { flags })).hooks).toHaveLength(1);
    expect((await load({ ...files, "system/requirements.toml": "" }, { flags })).hooks).toEqual([]);
  });

  it("so is a link that leads nowhere", async () => {
    await mkdir(join(base, "system"));
    await symlink("gone.toml", join(base, "system/requirements.toml"));
    await expect(load({})).rejects.toThrow(/requirements\.toml: is a link to "gone\.toml", which does not exist/);
  });

  it("so is the older managed_config.toml", async () => {
    await expect(load({ "system/managed_config.toml": '\nsandbox_mode = "read-only"\n' })).rejects.toThrow(
      /managed_config\.toml:2: this file is not supported here/,
    );
    await expect(load({ "system/managed_config.toml": "" })).resolves.toBeDefined();
  });

  it("so are preferences of macOS that require something, and none without", async () => {
    await expect(load({ "preferences.plist": "bplist00\u0001_requirements_toml_base64 x" })).rejects.toThrow(
      /preferences\.plist: `requirements_toml_base64` is not supported here/,
    );
    await expect(load({ "preferences.plist": "bplist00 SUEnableAutomaticChecks" })).resolves.toBeDefined();
  });

  it("what it supports holds: login shells, who reviews, rules with canonical matching", async () => {
    const { settings, requirements, notices } = await load({
      "system/requirements.toml": `allow_login_shell = false
allowed_approvals_reviewers = ["user"]
allow_managed_hooks_only = true
rules.prefix_rules = [{ pattern = [{ token = "a" }], decision = "prompt", canonical_matching = true }]
`,
      "home/config.toml": "allow_login_shell = true\n",
    });
    expect(settings.defaults.allowLogin).toBe(false);
    expect(requirements).toMatchObject({ allowsModelReview: false });
    expect(requirements?.rules?.text).toContain("canonical_matching=True");
    expect(notices).toEqual([]);
  });
});

it.each([
  [{ "home/config.toml": 'default_permissions = ":read-only"\nsandbox_mode = "danger-full-access"\n' }, []],
  [{}, ['default_permissions=":read-only"', 'sandbox_mode="danger-full-access"']],
])("default_permissions wins over sandbox_mode beside it: %j %j", async (files, config) => {
  const { settings } = await load(files, { flags: listFlags({ config }).map(({ setting }) => setting) });
  expect(settings.sandbox.mode).toBe("read-only");
});
