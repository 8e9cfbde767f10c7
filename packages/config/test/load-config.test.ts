import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KEY_BY_NAME } from "../src/keys.js";
import { type LoadedConfig, loadConfig } from "../src/load-config.js";
import { ruleDirectories } from "../src/load-user-config.js";

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "codex-config-")));
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Loads files, given by their path below a temporary directory with `home`, `system` and `project`. */
async function load(
  files: Record<string, string>,
  options: { flags?: string[]; profile?: string; at?: string; ignoreUser?: boolean } = {},
) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, path)), { recursive: true });
    await writeFile(join(base, path), text.replaceAll("$BASE", base));
  }
  await mkdir(join(base, "project/.git"), { recursive: true });
  const directory = join(base, options.at ?? "project");
  await mkdir(directory, { recursive: true });
  return loadConfig({
    home: join(base, "home"),
    homeOrigin: { kind: "default" },
    system: join(base, "system"),
    directory,
    profile: options.profile,
    ignoreUser: options.ignoreUser,
    flags: (options.flags ?? []).map((setting) => ({ flag: `-c ${setting}`, setting })),
  });
}

const TRUSTED = '[projects."$BASE/project"]\ntrust_level = "trusted"\n';
const originOf = (config: LoadedConfig, key: string) => {
  const origin = config.values.get(key)?.origin;
  return origin?.kind === "file" ? `${origin.file.slice(base.length + 1)}:${origin.line}` : origin?.kind;
};

describe("layers", () => {
  it("have defaults without any file", async () => {
    const { settings, notices } = await load({});
    expect(settings).toMatchObject({ approvalPolicy: "on-request", sandbox: { mode: "read-only" } });
    expect(settings.defaults.envPolicy).toEqual({
      inherit: "all",
      ignoreDefaultExcludes: false,
      exclude: [],
      set: {},
      includeOnly: [],
    });
    expect(notices).toEqual([]);
  });

  it("override earlier layers, and each value has its origin", async () => {
    const files = {
      "system/config.toml": 'approval_policy = "never"\nsandbox_mode = "read-only"\ntool_output_token_limit = 7\n',
      "home/config.toml":
        '# mine\nsandbox_mode = "workspace-write"\n[shell_environment_policy]\nset = { A = "1", B = "2" }\n',
      "home/work.config.toml": '[shell_environment_policy]\ninherit = "core"\nset.B = "3"\n',
    };
    const config = await load(files, { profile: "work", flags: ["tool_output_token_limit=9"] });
    expect(config.settings).toMatchObject({ approvalPolicy: "never", sandbox: { mode: "workspace-write" } });
    expect(config.settings.defaults).toMatchObject({
      maxOutputTokensCap: 9,
      envPolicy: { inherit: "core", set: { A: "1", B: "3" } },
    });
    expect(originOf(config, "approval_policy")).toBe("system/config.toml:1");
    expect(originOf(config, "sandbox_mode")).toBe("home/config.toml:2");
    expect(originOf(config, "shell_environment_policy.inherit")).toBe("home/work.config.toml:2");
    expect(originOf(config, "tool_output_token_limit")).toBe("flag");
  });

  it("report keys with their place that other parts read, and those that have no effect", async () => {
    const { unused, elsewhere } = await load({
      "home/config.toml": 'model = "m"\n[mcp_servers.x]\ncommand = "y"\n[sandbox_workspace_write]\nnew = 1\n',
    });
    const places = (keys: typeof unused) => keys.map(({ key, origin }) => [key, origin.kind === "file" && origin.line]);
    expect(places(elsewhere)).toEqual([
      ["model", 1],
      ["mcp_servers", 2],
    ]);
    expect(places(unused)).toEqual([["sandbox_workspace_write.new", 5]]);
  });

  it("resolve paths against the directory of their file", async () => {
    const { settings } = await load({
      "home/config.toml":
        '[sandbox_workspace_write]\nwritable_roots = ["out", "/var/x"]\n[audit]\npath = "log/a.jsonl"\n',
    });
    expect(settings.sandbox.writableRoots).toEqual([join(base, "home/out"), "/var/x"]);
    expect(settings.audit.path).toBe(join(base, "home/log/a.jsonl"));
  });

  it.each([
    ["a table", "approval_policy={granular={sandbox_approval=true,rules=false,mcp_elicitations=true}}"],
    ["dotted", "approval_policy.granular={sandbox_approval=true,rules=false}"],
  ])("accept the granular policy as %s", async (_name, flag) => {
    const { settings } = await load({}, { flags: [flag] });
    expect(settings.approvalPolicy).toEqual({ granular: { sandboxApproval: true, rules: false } });
  });

  it("accept a built-in permission profile as its sandbox mode", async () => {
    const { settings } = await load({ "home/config.toml": 'default_permissions = ":workspace"\n' });
    expect(settings.sandbox.mode).toBe("workspace-write");
  });

  it("merge the table of filters into the lists", async () => {
    const { settings } = await load({
      "home/config.toml": '[shell_environment_policy.filters]\n"AWS_*" = "exclude"\nPATH = "include"\n',
    });
    expect(settings.defaults.envPolicy).toMatchObject({ exclude: ["AWS_*"], includeOnly: ["PATH"] });
  });
});

describe("an invalid setting", () => {
  it.each([
    ['approval_policy = "sometimes"', ':1:1: `approval_policy` is "sometimes"; expected "untrusted", "on-request"'],
    ["approval_policy = { granular = { rules = true } }", ":1:1: `approval_policy"],
    [
      "x = 1\n[sandbox_workspace_write]\n  network_access = 1",
      ":3:3: `sandbox_workspace_write.network_access` is 1; expected true or false",
    ],
    ['sandbox_workspace_write = "on"', ':1:1: `sandbox_workspace_write` is "on"; expected a table'],
    [
      "tool_output_token_limit = -1",
      ":1:1: `tool_output_token_limit` is -1; expected a number of tokens of at least 1",
    ],
    ['[projects."/x"]\ntrust_level = "yes"', ':2:1: `projects."/x".trust_level` is "yes"; expected'],
    ["a = [1 2]", ":1:"],
    ['default_permissions = "mine"', ':1: permission profile "mine" is none of ":read-only", ":workspace"'],
    ['profile = "x"', ":1: `profile` is no longer supported"],
    [
      '[shell_environment_policy]\nexclude = ["A"]\nfilters = { B = "exclude" }',
      ":3: `shell_environment_policy.filters` cannot be combined with",
    ],
  ])("%j is an error with its place", async (text, message) => {
    const error = await load({ "home/config.toml": `${text}\n` }).catch((reason: unknown) => String(reason));
    expect(error).toContain(`${base}/home/config.toml${message}`);
  });

  it.each([
    ["nothing", "-c nothing: expected key=value"],
    ["=1", "-c =1: expected key=value"],
    ["sandbox_mode=open", 'flag -c sandbox_mode=open: `sandbox_mode` is "open"; expected "read-only"'],
  ])("-c %s is an error", async (flag, message) => {
    await expect(load({}, { flags: [flag] })).rejects.toThrow(message);
  });

  it("is an unknown profile, which the error names", async () => {
    await expect(load({}, { profile: "zz" })).rejects.toThrow(
      `--profile zz: there is no file ${base}/home/zz.config.toml`,
    );
    await expect(load({}, { profile: "../x" })).rejects.toThrow('--profile is "../x"');
  });

  it.each([
    "[shell_environment_policy]\nset = { A = 1, API_KEY = 'hunter2' }",
    "[shell_environment_policy.set]\nAPI_KEY = ['hunter2']",
    "[shell_environment_policy.set]\nAPI_KEY = hunter2",
    "[shell_environment_policy.set]\nAPI_KEY = 'hunter2",
    "[shell_environment_policy.set]\nhunter2 API_KEY",
    "[shell_environment_policy]\nset = 'hunter2'",
  ])("is not quoted where it may be a secret: %j", async (text) => {
    const error = await load({ "home/config.toml": `${text}\n` }).catch((reason: unknown) => String(reason));
    expect(error).toContain(`${base}/home/config.toml:`);
    expect(error).not.toContain("hunter2");
  });

  it("is a file that is too large", async () => {
    await expect(load({ "home/config.toml": `#${"x".repeat(1024 * 1024)}` })).rejects.toThrow(
      "the limit is 1048576 bytes",
    );
  });
});

it("can leave out the user's file, and with it the trust that it grants", async () => {
  const files = {
    "system/config.toml": "tool_output_token_limit = 5\n",
    "home/config.toml": `allow_login_shell = false\n${TRUSTED}`,
    "home/p.config.toml": 'model = "of-the-profile"\n',
    "project/.codex/config.toml": "tool_output_token_limit = 6\n",
  };
  const config = await load(files, { ignoreUser: true, profile: "p", flags: ["features.x=true"] });
  expect(config.settings.defaults).toMatchObject({ allowLogin: true, maxOutputTokensCap: 5 });
  expect(config.project.trust).toBeUndefined();
  expect(config.table.model).toBe("of-the-profile");
  expect(ruleDirectories(config, { systemOnly: true })).toEqual([join(base, "system/rules")]);
});

describe("a project", () => {
  const project = 'sandbox_mode = "read-only"\n';

  it("is not read until it is trusted, and reports the path to mark", async () => {
    const config = await load({ "project/.codex/config.toml": 'approval_policy = "never"\n= broken' });
    expect(config.settings.approvalPolicy).toBe("on-request");
    expect(config.layers).toContainEqual({
      layer: "project",
      file: `${base}/project/.codex/config.toml`,
      state: "not trusted",
    });
    expect(config.project.toMark).toBe(`${base}/project`);
  });

  it("cannot trust itself", async () => {
    const config = await load({ "project/.codex/config.toml": `${TRUSTED}approval_policy = "never"\n` });
    expect(config.project.trust).toBeUndefined();
    expect(config.settings.approvalPolicy).toBe("on-request");
  });

  it.each([
    ["trusted", "on-request"],
    ["untrusted", "untrusted"],
  ])("that is marked %s has another default", async (level, approvalPolicy) => {
    const { settings } = await load({ "home/config.toml": TRUSTED.replace('"trusted"', `"${level}"`) });
    expect(settings.approvalPolicy).toBe(approvalPolicy);
  });

  it("is read from its root to the current directory, and its rules are found", async () => {
    const config = await load(
      {
        "home/config.toml": TRUSTED,
        "project/.codex/config.toml": "allow_login_shell = false\ntool_output_token_limit = 5\n",
        "project/a/.codex/config.toml": "tool_output_token_limit = 6\n",
      },
      { at: "project/a/b" },
    );
    expect(config.settings.defaults).toMatchObject({ allowLogin: false, maxOutputTokensCap: 6 });
    expect(ruleDirectories(config)).toEqual(
      [
        "system/rules",
        "home/rules",
        "home/rules/whole",
        "project/.codex/rules",
        "project/a/.codex/rules",
        "project/a/b/.codex/rules",
      ].map((path) => join(base, path)),
    );
  });

  it("has the trust of the main checkout in a linked worktree that belongs to it, and in no other", async () => {
    const files = {
      "home/config.toml": TRUSTED,
      "project/.git/worktrees/w/gitdir": "$BASE/tree/.git\n",
      "tree/.git": "gitdir: $BASE/project/.git/worktrees/w\n",
      "fake/.git": "gitdir: $BASE/project/.git/worktrees/w\n",
    };
    expect((await load(files, { at: "tree" })).project.trust).toBe("trusted");
    expect((await load(files, { at: "fake" })).project.trust).toBeUndefined();
  });

  it.each<[string, string, string, unknown]>([
    ['sandbox_mode = "workspace-write"', project, "sandbox_mode", "read-only"],
    ['sandbox_mode = "workspace-write"', 'sandbox_mode = "danger-full-access"', "sandbox_mode", "workspace-write"],
    ["", 'sandbox_mode = "danger-full-access"', "sandbox_mode", "workspace-write"],
    ["", 'sandbox_mode = "read-only"', "sandbox_mode", "read-only"],
    ['approval_policy = "untrusted"', 'approval_policy = "never"', "approval_policy", "untrusted"],
    ['approval_policy = "never"', 'approval_policy = "on-request"', "approval_policy", "never"],
    ['approval_policy = "on-request"', 'approval_policy = "untrusted"', "approval_policy", "untrusted"],
    ["", 'approval_policy = "on-failure"', "approval_policy", "on-request"],
    ["", "sandbox_workspace_write.network_access = true", "sandbox_workspace_write.network_access", false],
    ["", "sandbox_workspace_write.allow_git_commit = true", "sandbox_workspace_write.allow_git_commit", false],
    ["", "sandbox_workspace_write.exclude_slash_tmp = true", "sandbox_workspace_write.exclude_slash_tmp", true],
    [
      'sandbox_workspace_write.deny_read = ["/a"]',
      'sandbox_workspace_write.deny_read = ["/b"]',
      "sandbox_workspace_write.deny_read",
      ["/a", "/b"],
    ],
    [
      "",
      "shell_environment_policy.ignore_default_excludes = true",
      "shell_environment_policy.ignore_default_excludes",
      false,
    ],
    [
      'shell_environment_policy.exclude = ["A"]',
      'shell_environment_policy.exclude = ["B"]',
      "shell_environment_policy.exclude",
      ["A", "B"],
    ],
    [
      'shell_environment_policy.include_only = ["A"]',
      'shell_environment_policy.include_only = ["*"]',
      "shell_environment_policy.include_only",
      ["A"],
    ],
    ["", 'shell_environment_policy.set = { LD_PRELOAD = "/x.so" }', "shell_environment_policy.set", {}],
    ["audit.enabled = true", "audit.enabled = false", "audit.enabled", true],
    ["audit.path = '/a'", "audit.path = '/b'", "audit.path", "/a"],
  ])("over %j, %j leaves %s at %j", async (user, own, key, value) => {
    const config = await load({ "home/config.toml": `${user}\n${TRUSTED}`, "project/.codex/config.toml": `${own}\n` });
    expect(config.values.get(key)?.value ?? KEY_BY_NAME.get(key)?.fallback).toEqual(value);
    const isApplied = originOf(config, key)?.startsWith("project/") === true;
    expect(config.notices.length).toBe(isApplied ? 0 : 1);
    if (!isApplied)
      expect(config.notices[0]).toMatch(/^\S+project\/\.codex\/config\.toml:1: `\S+` = .* is ignored: a project/);
  });

  it("can add roots inside it, but none through a link", async () => {
    await mkdir(join(base, "project/sub"), { recursive: true });
    await symlink("/", join(base, "project/link"));
    const own = 'sandbox_workspace_write.writable_roots = ["../sub", "../link", "/etc", "../../home"]\n';
    const config = await load({ "home/config.toml": TRUSTED, "project/.codex/config.toml": own });
    expect(config.settings.sandbox.writableRoots).toEqual([join(base, "project/sub")]);
    expect(config.notices).toHaveLength(1);
  });
});

describe("the sandbox mode", () => {
  const marked = (level: string) => TRUSTED.replace('"trusted"', `"${level}"`);
  it.each([
    ["is read-only by default", "", {}, "on-request", "read-only", "ask"],
    ["is workspace-write in a trusted project", TRUSTED, {}, "on-request", "workspace-write", "ask"],
    ["is read-only in an untrusted project", marked("untrusted"), {}, "untrusted", "read-only", "ask"],
    ["is enforced where it was configured", 'sandbox_mode = "read-only"\n', {}, "on-request", "read-only", "refuse"],
    ["can be lowered by a project", TRUSTED, { project: "read-only" }, "on-request", "read-only", "refuse"],
    ["is enforced where it is required", TRUSTED, { required: '"read-only"' }, "on-request", "read-only", "refuse"],
    [
      "is enforced where no sandbox is not allowed",
      TRUSTED,
      { required: '"read-only", "workspace-write"' },
      "on-request",
      "workspace-write",
      "refuse",
    ],
  ] as const)("%s", async (_name, user, files, approvalPolicy, mode, unavailable) => {
    const { project, required } = { project: undefined, required: undefined, ...files };
    const { settings } = await load({
      "home/config.toml": user,
      ...(project === undefined ? {} : { "project/.codex/config.toml": `sandbox_mode = "${project}"\n` }),
      ...(required === undefined ? {} : { "system/requirements.toml": `allowed_sandbox_modes = [${required}]\n` }),
    });
    expect(settings).toMatchObject({ approvalPolicy, sandbox: { mode, whenUnavailable: unavailable } });
    expect(settings.sandbox.networkAccess).toBe(false);
  });
});

describe("requirements", () => {
  it("replace a value of a file, with a notice", async () => {
    const { settings, notices } = await load({
      "system/requirements.toml":
        'allowed_approval_policies = ["untrusted", "on-request"]\nallowed_sandbox_modes = ["read-only"]\n',
      "home/config.toml": 'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n',
    });
    expect(settings).toMatchObject({ approvalPolicy: "untrusted", sandbox: { mode: "read-only" } });
    expect(notices).toEqual([
      `${base}/home/config.toml:1:1: \`approval_policy\` = "never" is not allowed by ${base}/system/requirements.toml:1; it is "untrusted"`,
      `${base}/home/config.toml:2:1: \`sandbox_mode\` = "danger-full-access" is not allowed by ${base}/system/requirements.toml:2; it is "read-only"`,
    ]);
  });

  it("reject a flag", async () => {
    const files = { "system/requirements.toml": 'allowed_approval_policies = ["untrusted"]\n' };
    await expect(load(files, { flags: ["approval_policy=never"] })).rejects.toThrow(
      '`approval_policy` is "never"; expected "untrusted"',
    );
    expect((await load(files)).settings.approvalPolicy).toBe("untrusted");
  });

  it("deny reads, add rules and require an audit log, whatever the flags", async () => {
    const { settings, requirements } = await load(
      {
        "system/requirements.toml": `[permissions.filesystem]
deny_read = ["/secret/**"]
[audit]
enabled = true
required = true
[rules]
prefix_rules = [{ pattern = [{ token = "rm" }, { any_of = ["-r", "-f"] }], decision = "forbidden", justification = "no \\"rm\\"" }]
[browser_use]
x = true
[features]
apps = false
`,
      },
      { flags: ["audit.enabled=false", "sandbox_workspace_write.deny_read=[]"] },
    );
    expect(settings.sandbox.denyRead).toEqual(["/secret/**"]);
    expect(settings.audit).toMatchObject({ enabled: true, required: true });
    expect(requirements?.rules?.text).toBe(
      'prefix_rule(pattern=["rm",["-r","-f"]], decision="forbidden", justification="no \\"rm\\"")\n',
    );
    expect(requirements?.unused.map(({ key }) => key)).toEqual(["browser_use"]);
  });

  it.each([
    ['allowed_sandbox_modes = ["workspace-write"]', 'expected a list with "read-only"'],
    ["allowed_approval_policies = []", "expected a list, not empty"],
    [
      'rules.prefix_rules = [{ pattern = [{ token = "a" }], decision = "allow" }]',
      "`rules.prefix_rules.0.decision` is invalid",
    ],
  ])("%j is an error", async (text, message) => {
    await expect(load({ "system/requirements.toml": `${text}\n` })).rejects.toThrow(message);
  });
});
