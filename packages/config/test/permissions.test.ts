// Permission profiles: what they amount to, and which layer decides.
import { describe, expect, it } from "vitest";
import { useConfig } from "./support.js";

const config = useConfig();
const load = async (files: Record<string, string>, flags?: readonly string[]) => {
  const { settings, notices } = await config.load(files, flags);
  return { ...settings, notices };
};

const PROFILES = `[permissions.base]
extends = ":workspace"
[permissions.base.filesystem]
":tmpdir" = "read"
"/srv/data" = "read"
":workspace_roots" = { "docs" = "read", "**/.env" = "deny" }
[permissions.base.network]
enabled = true
domains = { "a.example" = "allow", "b.example" = "allow" }
[permissions.dev]
extends = "base"
[permissions.dev.filesystem]
"/srv/data" = { "." = "write", "private" = "none" }
"~/notes" = "read"
glob_scan_max_depth = 3
[permissions.dev.network]
domains = { "b.example" = "deny" }
`;
const user = (text: string) => ({ "home/config.toml": text });
const profileOf = (name: string) => user(`default_permissions = ${JSON.stringify(name)}\n${PROFILES}`);

describe("a permission profile", () => {
  it("has what it extends, of which it replaces what it says itself", async () => {
    const { sandbox, network } = await load(profileOf("dev"));
    expect(sandbox).toMatchObject({
      mode: "workspace-write",
      networkAccess: true,
      profile: {
        name: "dev",
        base: "workspace",
        globScanMaxDepth: 3,
        entries: [
          { place: "tmpdir", access: "read" },
          { place: "workspace_roots", subpath: "docs", access: "read" },
          { place: "workspace_roots", subpath: "**/.env", access: "deny" },
          { place: { path: "/srv/data" }, access: "write" },
          { place: { path: "/srv/data" }, subpath: "private", access: "deny" },
          { place: { path: "~/notes" }, access: "read" },
        ],
      },
    });
    // The network is held although the feature is off.
    expect(network?.rules?.map(({ pattern, decision }) => [pattern, decision])).toEqual([
      ["b.example", "deny"],
      ["a.example", "allow"],
    ]);
  });

  it("is the later of it and a sandbox mode", async () => {
    const later = await load(profileOf("dev"), ['sandbox_mode="read-only"']);
    expect(later.sandbox).toMatchObject({ mode: "read-only" });
    expect(later.sandbox.profile).toBeUndefined();
    const named = await load(user(`sandbox_mode = "read-only"\n${PROFILES}`), ['default_permissions="dev"']);
    expect(named.sandbox).toMatchObject({ mode: "workspace-write", profile: { name: "dev" } });
    expect((await load(profileOf("dev"), ['default_permissions=":read-only"'])).sandbox).toMatchObject({
      mode: "read-only",
    });
    const both = await load(user(`sandbox_mode = "danger-full-access"\ndefault_permissions = "dev"\n${PROFILES}`));
    expect(both.sandbox).toMatchObject({ mode: "workspace-write", profile: { name: "dev" } });
  });

  it.each([
    ['default_permissions = "dev"', [], "dev"],
    ['default_permissions = ":workspace"', [], ":workspace"],
    ['sandbox_mode = "read-only"', [], undefined],
    ["", [], undefined],
    ['default_permissions = "dev"', ['sandbox_mode="read-only"'], undefined],
    ['sandbox_mode = "read-only"', ['default_permissions=":workspace"'], ":workspace"],
  ])("has a name where it is chosen by that: %j %j", async (chosen, flags, name) => {
    const text = `${chosen}\n[permissions.dev]\nextends = ":workspace"\n`;
    expect((await config.load({ "home/config.toml": text }, flags)).profileName).toBe(name);
  });

  it("without what it extends is its entries alone, and takes nothing from `sandbox_workspace_write`", async () => {
    const text = `default_permissions = "x"
[sandbox_workspace_write]
network_access = true
writable_roots = ["/srv"]
[permissions.x.filesystem]
":minimal" = "read"
":workspace_roots" = "write"
`;
    const { sandbox, network } = await load(user(text));
    expect(sandbox).toMatchObject({
      mode: "workspace-write",
      networkAccess: false,
      writableRoots: [],
      profile: { base: "none" },
    });
    expect(network).toBeUndefined();
    expect((await load(user('default_permissions = "x"\n[permissions.x]\n'))).sandbox).toMatchObject({
      mode: "read-only",
      profile: { base: "none", entries: [] },
    });
  });

  it("is restricted by a trusted project, which can name none", async () => {
    const trusted = `[projects."$BASE/project"]\ntrust_level = "trusted"\n`;
    const files = { "home/config.toml": `default_permissions = "dev"\n${PROFILES}${trusted}` };
    const narrowed = await load({ ...files, "project/.codex/config.toml": 'sandbox_mode = "read-only"\n' });
    expect(narrowed.sandbox).toMatchObject({ mode: "read-only", profile: { base: "read-only" } });
    expect(narrowed.sandbox.profile?.entries.some(({ access }) => access === "write")).toBe(false);
    const named = await load({
      ...files,
      "project/.codex/config.toml": `default_permissions = "mine"\n[permissions.mine.filesystem]\n":root" = "write"\n`,
    });
    expect(named.sandbox.profile?.name).toBe("dev");
    expect(named.notices.join("\n")).toMatch(/`default_permissions` = "mine" is ignored: a project cannot set it/);
  });

  it("is held by the modes that the administrator allows", async () => {
    const all = user('default_permissions = "x"\n[permissions.x.filesystem]\n":root" = "write"\n');
    expect((await load(all)).sandbox).toMatchObject({ profile: { entries: [{ place: "root", access: "write" }] } });
    const required = { "system/requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n' };
    const limited = await load({ ...profileOf("dev"), ...required });
    expect(limited.sandbox).toMatchObject({ mode: "read-only", profile: { base: "read-only" } });
    expect(limited.sandbox.profile?.entries.some(({ access }) => access === "write")).toBe(false);
    expect(limited.notices.join("\n")).toContain("is not allowed by");
    const workspace = { "system/requirements.toml": 'allowed_sandbox_modes = ["read-only", "workspace-write"]\n' };
    await expect(load({ ...all, ...workspace })).rejects.toThrow(/permissions\.x: requirements\.toml does not allow/);
  });

  const REQUIRED = `default_permissions = ":read-only"\n[allowed_permission_profiles]\n":read-only" = true\n":workspace" = false\n`;

  it("is one of those that the administrator allows, else the required one", async () => {
    const required = { "system/requirements.toml": REQUIRED };
    for (const chosen of [
      profileOf("dev"),
      user('default_permissions = ":workspace"\n'),
      user('sandbox_mode = "danger-full-access"\n'),
    ]) {
      const { sandbox, notices } = await load({ ...chosen, ...required });
      expect(sandbox).toMatchObject({ mode: "read-only" });
      expect(sandbox.profile).toBeUndefined();
      expect(notices.join("\n")).toMatch(
        /permission profile ".*" is not allowed by .*requirements\.toml:2; it is ":read-only"/,
      );
    }
    const none = user("");
    const other = REQUIRED.replace('":read-only"\n', '"dev"\n').concat('"dev" = true\n');
    expect((await load({ ...profileOf("base"), "system/requirements.toml": other })).sandbox.profile?.name).toBe("dev");
    await expect(load({ ...none, "system/requirements.toml": other })).rejects.toThrow(
      /requirements\.toml:\d+: .allowed_permission_profiles. allows permission profile "dev", which no file defines/,
    );
    await expect(
      load({ ...profileOf("base"), "system/requirements.toml": REQUIRED }, ['default_permissions="dev"']),
    ).rejects.toThrow(/-c default_permissions.*"dev".*":read-only"/);
    const modes = { "system/requirements.toml": 'allowed_sandbox_modes = ["read-only"]\n' };
    await expect(load({ ...user(PROFILES), ...modes }, ['default_permissions="dev"'])).rejects.toThrow(
      /"workspace-write"/,
    );
  });

  it.each([
    [
      'default_permissions = ":workspace"\n[allowed_permission_profiles]\n":read-only" = true\n',
      "`default_permissions`",
    ],
    ['[allowed_permission_profiles]\n":read-only" = false\n', "`allowed_permission_profiles`"],
    ['allowed_permission_profiles = [":read-only"]\n', "`allowed_permission_profiles`"],
    ["default_permissions = 1\n", "`default_permissions`"],
  ])("cannot be required so: %s", async (text, key) => {
    await expect(load({ "system/requirements.toml": text })).rejects.toThrow(key);
  });

  const files = (text: string) => `default_permissions = "x"\n[permissions.x.filesystem]\n${text}\n`;
  it.each([
    [
      'default_permissions = "y"\n[permissions.x]\n',
      '1: permission profile "y" is none of ":read-only", ":workspace", "x"',
    ],
    ['default_permissions = ":other"\n', "1:1: `default_permissions`"],
    ['default_permissions = "x"\n[permissions.x]\nextends = "z"\n', '2: permission profile "z" is none of'],
    [
      'default_permissions = "x"\n[permissions.x]\nextends = "y"\n[permissions.y]\nextends = "x"\n',
      'permission profile "x" extends itself: x → y → x',
    ],
    ['default_permissions = "x"\n[permissions.x]\nextend = "y"\n', "`permissions.x"],
    ['[permissions.":x"]\n', "`permissions"],
    [files('"docs" = "read"'), 'permissions.x.filesystem."docs": expected an absolute path'],
    [files('":cwd" = "read"'), 'permissions.x.filesystem.":cwd": expected an absolute path'],
    [files('"/a/*" = "write"'), 'filesystem."/a/*": a pattern can only be "deny"'],
    [files('":minimal" = "write"'), 'can only be "read"'],
    [files('":tmpdir" = { "a" = "read" }'), "has no paths below it"],
    [files('":workspace_roots" = { "../a" = "write" }'), 'path "../a" is not below it'],
    [files('":workspace_roots" = { "/a" = "write" }'), 'path "/a" is not below it'],
    [files("glob_scan_max_depth = 0"), "glob_scan_max_depth"],
    [files('"/a" = "exec"'), "`permissions.x.filesystem"],
    ["[permissions.x.network]\nenable_socks5 = false\n", "`permissions.x.network.enable_socks5`"],
    ["[permissions.x.network]\nmitm = {}\n", "`permissions.x"],
    [
      'default_permissions = "x"\n[permissions.x.network]\ndomains = { "http://a/" = "allow" }\n',
      'network pattern "http://a/"',
    ],
  ])("is an error with its place: %s", async (text, problem) => {
    await expect(load(user(text))).rejects.toThrow(problem);
  });
});
