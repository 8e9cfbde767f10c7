import { type Sandbox, sandboxSchema } from "@codex/executor-protocol";
import { CLOSED_IN_GIT_DIRECTORY, type SandboxEntry } from "@codex/permissions";
import { describe, expect, it } from "vitest";
import { HOST } from "../../../orchestrator/test/support/executors.js";
import { createSandboxSelector } from "../../src/sandbox/create-sandbox-selector.js";
import { DEFAULT_DENY_READ } from "../../src/sandbox/deny-read.js";
import type { SandboxedCommand } from "../../src/sandbox/sandbox-selector.js";
import type { SandboxSettings } from "../../src/sandbox/sandbox-settings.js";

const COMMAND: SandboxedCommand = {
  environment: "main",
  host: HOST,
  cwd: "/srv/project/sub",
  workspaceRoots: ["/srv/project"],
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  bypassSandbox: false,
};
const choose = (settings: SandboxSettings, command: Partial<SandboxedCommand> = {}) =>
  createSandboxSelector({ denyRead: [], ...settings }).select({ ...COMMAND, ...command });

function select(settings: SandboxSettings, command?: Partial<SandboxedCommand>): Sandbox {
  const sandbox = choose(settings, command);
  if (sandbox === null || "refused" in sandbox) throw new Error(`no sandbox: ${JSON.stringify(sandbox)}`);
  expect(sandboxSchema.parse(sandbox)).toEqual(sandbox);
  return sandbox;
}
function entriesOf({ permissions }: Sandbox): SandboxEntry[] {
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") throw new Error("unrestricted");
  return permissions.file_system.entries;
}

const at = (path: string, access: string) => ({ path: { type: "path", path }, access });
const special = (kind: string, access: string, subpath?: string) => ({
  path: { type: "special", value: { kind, ...(subpath === undefined ? {} : { subpath }) } },
  access,
});
const PROTECTED = [".git", ".agents", ".codex", ".aws"].map((name) => special("project_roots", "read", name));
const asking = (file_system: { read?: string[]; write?: string[] }, enabled = false): Partial<SandboxedCommand> => ({
  sandboxPermissions: "with_additional_permissions",
  additionalPermissions: { file_system: { read: [], write: [], ...file_system }, network: { enabled } },
});

// As Codex 0.169.0 sends them for `-s`, but for members that say nothing on this host.
describe("the shape of a sandbox", () => {
  it("for reading only", () => {
    expect(select({ mode: "read-only" })).toEqual({
      permissions: {
        type: "managed",
        file_system: { type: "restricted", entries: [special("root", "read")] },
        network: "restricted",
      },
      cwd: "/srv/project",
      workspaceRoots: ["/srv/project"],
    });
  });

  it("for writing in the workspace", () => {
    expect(select({ mode: "workspace-write" })).toEqual({
      permissions: {
        type: "managed",
        file_system: {
          type: "restricted",
          entries: [
            special("root", "read"),
            special("project_roots", "write"),
            special("slash_tmp", "write"),
            special("tmpdir", "write"),
            ...PROTECTED,
          ],
        },
        network: "restricted",
      },
      cwd: "/srv/project",
      workspaceRoots: ["/srv/project"],
    });
  });

  it("with every setting of Codex", () => {
    const sandbox = select({
      mode: "workspace-write",
      writableRoots: ["/opt/extra"],
      networkAccess: true,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    });
    expect(entriesOf(sandbox)).toEqual([
      special("root", "read"),
      special("project_roots", "write"),
      at("/opt/extra", "write"),
      ...PROTECTED,
    ]);
    expect(sandbox).toMatchObject({
      permissions: { network: "enabled" },
      workspaceRoots: ["/srv/project", "/opt/extra"],
    });
  });

  it("is none for full access, and for what may run outside", () => {
    expect(choose({ mode: "danger-full-access" })).toBeNull();
    expect(choose({ mode: "read-only" }, { bypassSandbox: true })).toBeNull();
    expect(createSandboxSelector({ mode: "danger-full-access" }).unrestricted).toBe(true);
    expect(createSandboxSelector({ mode: "workspace-write" }).unrestricted).toBe(false);
  });

  it("gives network only to a mode that may have it", () => {
    expect(select({ mode: "read-only", networkAccess: true })).toMatchObject({
      permissions: { network: "restricted" },
    });
  });
});

describe("the workspace", () => {
  const WRITE = { mode: "workspace-write" } as const;

  it("is that of the turn, not the directory of the command", () => {
    expect(select(WRITE, { cwd: "/etc" })).toMatchObject({ cwd: "/srv/project", workspaceRoots: ["/srv/project"] });
    expect(select(WRITE, { workspaceRoots: undefined })).toMatchObject({ workspaceRoots: [HOST.cwd] });
  });

  it.each([
    [{ workspaceRoots: ["/"] }, /workspace is `\/`/],
    [{ workspaceRoots: undefined, host: { ...HOST, cwd: "/" } }, /workspace is `\/`/],
    [{ workspaceRoots: undefined, host: { ...HOST, cwd: "/home/user" } }, /no workspace was named.*`\/home\/user`/],
    [{ workspaceRoots: undefined, host: { ...HOST, cwd: "/home" } }, /no workspace was named/],
  ])("is not everything, and not by accident the home directory: %j", (command, expected) => {
    expect(choose(WRITE, command)).toEqual({ refused: expect.stringMatching(expected) });
    expect(choose({ mode: "read-only" }, command)).not.toHaveProperty("refused");
  });

  it("may be the home directory where somebody said so", () => {
    expect(select(WRITE, { workspaceRoots: ["/home/user"] })).toMatchObject({ workspaceRoots: ["/home/user"] });
  });
});

describe("git commit", () => {
  const WRITE = { mode: "workspace-write", allowGitCommit: true } as const;
  const effective = (sandbox: Sandbox) =>
    entriesOf(sandbox).filter(({ path }) => JSON.stringify(path).includes(".git"));

  it("opens the git directory, and closes what git runs or trusts", () => {
    const main = { gitDirectory: "/srv/project/.git", commonDirectory: "/srv/project/.git" };
    expect(effective(select({ ...WRITE, gitDirectories: () => main }))).toEqual([
      at("/srv/project/.git", "write"),
      ...CLOSED_IN_GIT_DIRECTORY.map((name) => at(`/srv/project/.git/${name}`, "read")),
    ]);
  });

  it("keeps the file that names the git directory of a worktree closed", () => {
    const directories = { gitDirectory: "/repo/.git/worktrees/w", commonDirectory: "/repo/.git" };
    expect(effective(select({ ...WRITE, gitDirectories: () => directories }))).toEqual([
      special("project_roots", "read", ".git"),
      at("/repo/.git/worktrees/w", "write"),
      ...CLOSED_IN_GIT_DIRECTORY.map((name) => at(`/repo/.git/worktrees/w/${name}`, "read")),
      ...["objects", "refs", "logs"].map((name) => at(`/repo/.git/${name}`, "write")),
    ]);
  });

  it("opens nothing where there is no git directory, and closes it in the other roots", () => {
    expect(effective(select({ ...WRITE, gitDirectories: () => undefined }))).toEqual([
      special("project_roots", "read", ".git"),
    ]);
    const only = (root: string) =>
      root === "/srv/project" ? { gitDirectory: `${root}/.git`, commonDirectory: `${root}/.git` } : undefined;
    const sandbox = select({ ...WRITE, writableRoots: ["/opt/extra"], gitDirectories: only });
    expect(effective(sandbox)).toContainEqual(at("/opt/extra/.git", "read"));
    expect(effective(sandbox)).not.toContainEqual(special("project_roots", "read", ".git"));
  });
});

describe("extra permissions", () => {
  const DENY = { denyRead: ["~/.gnupg", "~/.ssh/id_*"] };

  it("widen the sandbox of this command, and no other", () => {
    const selector = createSandboxSelector({ mode: "read-only", denyRead: [] });
    const wide = selector.select({ ...COMMAND, ...asking({ read: ["/opt/r"], write: ["/opt/w"] }, true) });
    expect(entriesOf(wide as Sandbox)).toEqual([special("root", "read"), at("/opt/w", "write")]);
    expect(wide).toMatchObject({ permissions: { network: "enabled" } });
    expect(selector.select(COMMAND)).toEqual(select({ mode: "read-only" }));
  });

  it("do not close by a read what may be written", () => {
    const sandbox = select({ mode: "workspace-write" }, asking({ read: ["/srv/project/sub"] }));
    expect(entriesOf(sandbox)).toEqual(entriesOf(select({ mode: "workspace-write" })));
  });

  it("lift a denied path that is asked for by its name, and only that", () => {
    const entries = (paths: string[]) => entriesOf(select({ mode: "read-only", ...DENY }, asking({ read: paths })));
    expect(entries(["/home/user/.gnupg"])).not.toContainEqual(at("/home/user/.gnupg", "deny"));
    expect(entries(["/home/user"])).toContainEqual(at("/home/user/.gnupg", "deny"));
  });

  it.each([
    ["/home/user/.gnupg/pubring.kbx", /`~\/\.gnupg`.*ask for `\/home\/user\/\.gnupg` as a whole/],
    ["/home/user/.ssh/id_rsa", /`~\/\.ssh\/id_\*`.*require_escalated/],
  ])("of a part of what is denied are refused: %s", (path, expected) => {
    expect(choose({ mode: "read-only", ...DENY }, asking({ read: [path] }))).toEqual({
      refused: expect.stringMatching(expected),
    });
  });
});

describe("denied reads", () => {
  it.each<[string, string[], Record<string, string[]>, string[]]>([
    ["below a moved directory", ["~/.config/gh/hosts.yml"], { "~/.config": ["/x"] }, ["/x/gh/hosts.yml"]],
    ["moved twice", ["~/.config/gh"], { "~/.config": ["/x"], "~/.config/gh": ["/y/gh"] }, ["/x/gh", "/y/gh"]],
    ["above what is moved", ["~/.kube"], { "~/.kube/config": ["/x/a", "/x/b"] }, ["/x/a", "/x/b"]],
    ["by a pattern above what is moved", ["~/.conf*"], { "~/.config": ["/x/c"] }, ["/x/c"]],
    ["not elsewhere", ["~/.kubectl", "/k"], { "~/.kube": ["/x/a"] }, ["/k"]],
    ["not the home directory or one of the system", ["~/.gnupg"], { "~/.gnupg": ["/home/user", "/home", "/tmp"] }, []],
    [
      "below the home directory",
      ["~/.docker/config.json"],
      { "~/.docker": ["/home/user"] },
      ["/home/user/config.json"],
    ],
    ["unless an exception names it", ["~/.kube", "!~/.kube/config"], { "~/.kube/config": ["/x/a"] }, []],
  ])("follow the environment of the executor: %s", (_, denyRead, movedPaths, expected) => {
    const entries = entriesOf(select({ mode: "read-only", denyRead }, { host: { ...HOST, movedPaths } })).slice(1);
    const denied = entries.flatMap(({ path, access }) =>
      access === "deny" && path.type === "path" ? [path.path] : [],
    );
    expect(denied.filter((path) => !path.startsWith("/home/user/."))).toEqual(expected);
  });

  it("follow a directory whose name is a pattern", () => {
    const host = { ...HOST, movedPaths: { "~/.docker": ["/x[1]*"] } };
    const entries = entriesOf(select({ mode: "read-only", denyRead: ["~/.docker/*.pem", "~/.docker/a"] }, { host }));
    expect(entries).toContainEqual({ path: { type: "glob_pattern", pattern: "/x[[]1][*]/*.pem" }, access: "deny" });
    expect(entries).toContainEqual(at("/x[1]*/a", "deny"));
  });

  it("are private keys and credentials in the home directory of the executor's host", () => {
    const denied = entriesOf(select({ mode: "read-only", denyRead: DEFAULT_DENY_READ })).slice(1);
    expect(denied).toContainEqual({
      path: { type: "glob_pattern", pattern: "/home/user/.docker/*.pem" },
      access: "deny",
    });
    expect(denied).toContainEqual(at("/home/user/.aws/credentials", "deny"));
    expect(denied).toHaveLength(DEFAULT_DENY_READ.length);
    const codex = ["AGENTS.md", "AGENTS.override.md", "bin", "packages", "plugins", "prompts", "rules"];
    const needed = [...codex, "shell-snapshots", "skills", "worktrees"].map((name) => `.codex/${name}`);
    expect(denied.filter(({ access }) => access !== "deny")).toEqual(
      [".ssh/known_hosts", ".ssh/config", ...needed].map((path) => at(`/home/user/${path}`, "read")),
    );
  });

  it.each<[string[], [string, "read" | "deny"][]]>([
    [
      ["/k", "!/k/open"],
      [
        ["/k", "deny"],
        ["/k/open", "read"],
      ],
    ],
    [["!/k/open", "/k"], [["/k", "deny"]]],
    [
      ["/k", "!/k/open", "/k"],
      [
        ["/k", "deny"],
        ["/k", "deny"],
      ],
    ],
    [
      ["/k", "!/k/open", "/k/open"],
      [
        ["/k", "deny"],
        ["/k/open", "deny"],
      ],
    ],
    [["/k", "/k/a", "!/k"], []],
    [["/k", "!/other"], [["/k", "deny"]]],
  ])("%j come to %j: the later one counts", (denyRead, expected) => {
    const entries = entriesOf(select({ mode: "read-only", denyRead })).slice(1);
    expect(entries).toEqual(expected.map(([path, access]) => at(path, access)));
  });

  it("do not stop what is readable in them from being asked for", () => {
    const settings = { mode: "read-only", denyRead: ["~/.ssh", "!~/.ssh/config"] } as const;
    const entries = entriesOf(select(settings, asking({ read: ["/home/user/.ssh/config"] })));
    expect(entries).toContainEqual(at("/home/user/.ssh/config", "read"));
    expect(choose(settings, asking({ read: ["/home/user/.ssh/id"] }))).toHaveProperty("refused");
  });

  it("are left out where the home directory is not known", () => {
    const entries = entriesOf(select({ mode: "read-only", denyRead: ["~/.ssh/id_*", "/etc/x"] }, { host: undefined }));
    expect(entries).toEqual([special("root", "read"), at("/etc/x", "deny")]);
  });
});

describe("settings", () => {
  it.each<[Omit<SandboxSettings, "mode">, RegExp]>([
    [{ writableRoots: ["rel"] }, /writableRoots: "rel"; expected an absolute path/],
    [{ writableRoots: ["/a/../b"] }, /writableRoots: "\/a\/\.\.\/b"/],
    [{ writableRoots: ["/"] }, /`\/` is everything/],
    [{ denyRead: ["secrets/*"] }, /denyRead: "secrets\/\*"; expected an absolute path or one below ~\//],
    [{ denyRead: ["!secrets"] }, /denyRead: "!secrets"; expected an absolute path/],
    [{ denyRead: ["!~/.ssh/*.pub"] }, /denyRead: "!~\/.ssh\/\*.pub"; expected a path after `!`, without a pattern/],
    [{ allowGitCommit: true }, /allowGitCommit needs gitDirectories/],
  ])("%j is an error", (settings, expected) => {
    expect(() => createSandboxSelector({ mode: "workspace-write", ...settings })).toThrow(expected);
  });
});
