import { posix } from "node:path";
import type { Sandbox } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { type Ceiling, findExcess, getBoundedPaths } from "../src/ceiling.js";
import { CLOSED_IN_GIT_DIRECTORY } from "../src/git-directory.js";
import type { SandboxEntry } from "../src/sandbox-entry.js";

/** Links of the host: what stands left leads right. */
const LINKS: Readonly<Record<string, string>> = {
  "/project/link": "/etc",
  "/alias": "/project",
  "/project/in": "/project/deep",
};
const CONTEXT = {
  temporaryDirectories: ["/var/run-tmp"],
  resolve(path: string) {
    const plain = posix.normalize(path).replace(/(?<=.)\/$/, "");
    const link = Object.keys(LINKS).find((from) => plain === from || plain.startsWith(`${from}/`));
    return link === undefined ? plain : `${LINKS[link]}${plain.slice(link.length)}`;
  },
};

type Access = SandboxEntry["access"];
type Special = Extract<SandboxEntry["path"], { type: "special" }>["value"];
const at = (path: string, access: Access = "write"): SandboxEntry => ({ path: { type: "path", path }, access });
const special = (kind: Special["kind"], access: Access = "write", subpath?: string): SandboxEntry => ({
  path: { type: "special", value: { kind, ...(subpath === undefined ? {} : { subpath }) } },
  access,
});
const glob = (pattern: string, access: Access): SandboxEntry => ({ path: { type: "glob_pattern", pattern }, access });
const READ_ALL = special("root", "read");
const box = (
  entries: SandboxEntry[],
  more: Partial<Sandbox> = {},
  network: "restricted" | "enabled" = "restricted",
) => ({
  permissions: {
    type: "managed" as const,
    file_system: { type: "restricted" as const, entries: [READ_ALL, ...entries] },
    network,
  },
  cwd: "/project",
  workspaceRoots: ["/project"],
  ...more,
});
const OPEN: Sandbox = {
  permissions: { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" },
};
const WORKSPACE = box([
  special("project_roots"),
  special("slash_tmp"),
  special("tmpdir"),
  special("project_roots", "read", ".git"),
]);
const GIT = (directory: string, leave: readonly string[] = []) => [
  at(directory),
  ...CLOSED_IN_GIT_DIRECTORY.filter((name) => !leave.includes(name)).map((name) => at(`${directory}/${name}`, "read")),
];

const bounded = (mode: Ceiling["mode"], roots: string[] = ["/project"], network = false): Ceiling => ({
  mode,
  roots,
  network,
});
const WRITE = bounded("workspace-write");
const READ = bounded("read-only", []);

interface Case {
  name: string;
  ceiling: Ceiling;
  sandbox?: Sandbox | null;
  cwd?: string;
  /** Absent: within the ceiling. */
  excess?: RegExp;
}

const CASES: Case[] = [
  {
    name: "no sandbox at all",
    ceiling: WRITE,
    excess: /a sandbox is needed.*`workspace-write` in `\/project` without network/,
  },
  { name: "a null sandbox", ceiling: READ, sandbox: null, excess: /a sandbox is needed/ },
  { name: "disabled", ceiling: WRITE, sandbox: { permissions: { type: "disabled" } }, excess: /`disabled` are not/ },
  {
    name: "external",
    ceiling: WRITE,
    sandbox: { permissions: { type: "external", network: "restricted" } },
    excess: /`external` are not/,
  },
  { name: "an unrestricted file system", ceiling: WRITE, sandbox: OPEN, excess: /writing everywhere/ },
  { name: "reading only, under read-only", ceiling: READ, sandbox: box([]), cwd: "/anywhere" },
  {
    name: "writing anything, under read-only",
    ceiling: READ,
    sandbox: WORKSPACE,
    excess: /`project_roots`.*`read-only`/,
  },
  { name: "the workspace", ceiling: WRITE, sandbox: WORKSPACE },
  { name: "the workspace by another name", ceiling: WRITE, sandbox: box([at("/alias")]), cwd: "/alias/sub" },
  { name: "a link that stays within", ceiling: WRITE, sandbox: box([at("/project/in")]) },
  { name: "a link that leads out", ceiling: WRITE, sandbox: box([at("/project/link")]), excess: /which is `\/etc`/ },
  { name: "below a link that leads out", ceiling: WRITE, sandbox: box([at("/project/link/x")]), excess: /`\/etc\/x`/ },
  { name: "`..` in a path", ceiling: WRITE, sandbox: box([at("/project/../etc")]), excess: /`\.\.` in it/ },
  {
    name: "`..` in a subpath",
    ceiling: WRITE,
    sandbox: box([special("project_roots", "write", "../etc")]),
    excess: /`\.\.`/,
  },
  { name: "a relative path", ceiling: WRITE, sandbox: box([at("work")]), excess: /not absolute/ },
  { name: "a NUL in a path", ceiling: WRITE, sandbox: box([at("/project\0/../etc")]), excess: /`\.\.`|NUL/ },
  {
    name: "a neighbour with the same beginning",
    ceiling: WRITE,
    sandbox: box([at("/projects")]),
    excess: /`\/projects`/,
  },
  { name: "the parent of the root", ceiling: WRITE, sandbox: box([at("/")]), excess: /writing `\/`/ },
  { name: "the root of everything, spelled", ceiling: WRITE, sandbox: box([special("root")]), excess: /`root`/ },
  {
    name: "everything where any directory may be written",
    ceiling: bounded("workspace-write", []),
    sandbox: box([at("/")]),
    excess: /`\/`/,
  },
  { name: "any directory", ceiling: bounded("workspace-write", []), sandbox: box([at("/srv/x")]), cwd: "/srv/x" },
  { name: "a pattern that writes", ceiling: WRITE, sandbox: box([glob("/project/**", "write")]), excess: /pattern/ },
  { name: "patterns that deny", ceiling: WRITE, sandbox: box([glob("/**/*.pem", "deny"), at("/etc", "none")]) },
  { name: "minimal", ceiling: WRITE, sandbox: box([special("minimal")]), excess: /names no directory/ },
  { name: "unknown", ceiling: WRITE, sandbox: box([special("unknown")]), excess: /names no directory/ },
  {
    name: "the working directory of the sandbox elsewhere",
    ceiling: WRITE,
    sandbox: box([special("current_working_directory")], { cwd: "/etc" }),
    excess: /which is `\/etc`|`current_working_directory`/,
  },
  {
    name: "workspace roots elsewhere",
    ceiling: WRITE,
    sandbox: box([special("project_roots")], { workspaceRoots: ["/project", "/etc"] }),
    excess: /`project_roots`, which is `\/etc`|`project_roots`/,
  },
  {
    name: "workspace roots elsewhere that nothing writes",
    ceiling: WRITE,
    sandbox: box([], { workspaceRoots: ["/etc"] }),
  },
  {
    name: "temporary directories elsewhere",
    ceiling: WRITE,
    sandbox: box([special("tmpdir")], { temporaryDirectories: ["/etc"] }),
    excess: /`tmpdir`/,
  },
  {
    name: "the temporary directories of the host",
    ceiling: WRITE,
    sandbox: box([special("tmpdir"), at("/tmp/x"), at("/var/run-tmp")]),
  },
  { name: "network", ceiling: WRITE, sandbox: box([], {}, "enabled"), excess: /network access/ },
  {
    name: "network where it is allowed",
    ceiling: bounded("workspace-write", ["/project"], true),
    sandbox: box([], {}, "enabled"),
  },
  {
    name: "a start elsewhere",
    ceiling: WRITE,
    sandbox: box([]),
    cwd: "/etc",
    excess: /started in `\/project` only, not in `\/etc`/,
  },
  { name: "a start behind a link", ceiling: WRITE, sandbox: box([]), cwd: "/project/link", excess: /started in/ },
  { name: "a start behind `..`", ceiling: WRITE, sandbox: box([]), cwd: "/project/sub/..", excess: /started in/ },
  { name: "a start in a temporary directory", ceiling: WRITE, sandbox: box([]), cwd: "/tmp", excess: /started in/ },
  { name: "no sandbox where only the start is bound", ceiling: bounded("danger-full-access", ["/project"], true) },
  {
    name: "a start elsewhere where only that is bound",
    ceiling: bounded("danger-full-access", ["/project"], true),
    cwd: "/",
    excess: /started in/,
  },
  {
    name: "full access without network, unsandboxed",
    ceiling: bounded("danger-full-access", []),
    excess: /a sandbox is needed/,
  },
  { name: "full access without network", ceiling: bounded("danger-full-access", []), sandbox: OPEN },
  {
    name: "hooks of git",
    ceiling: WRITE,
    sandbox: box([at("/project"), at("/project/.git/hooks")]),
    excess: /open `\/project\/\.git\/hooks`/,
  },
  {
    name: "hooks of git by subpath",
    ceiling: WRITE,
    sandbox: box([special("project_roots", "write", ".git/hooks/x")]),
    excess: /\.git\/hooks\/x/,
  },
  {
    name: "a git directory that stays open",
    ceiling: WRITE,
    sandbox: box([at("/project/a/.git")]),
    excess: /open `\/project\/a\/\.git\/hooks`/,
  },
  { name: "a git directory closed where it runs things", ceiling: WRITE, sandbox: box(GIT("/project/a/.git")) },
  {
    name: "a git directory with its configuration open",
    ceiling: WRITE,
    sandbox: box(GIT("/project/.git", ["config"])),
    excess: /`\/project\/\.git\/config`/,
  },
  { name: "objects of git", ceiling: WRITE, sandbox: box([at("/project/.git/objects"), at("/project/.git/refs")]) },
  ...[
    "rebase-merge",
    "sequencer/todo",
    "HEAD",
    "remotes/origin",
    "lfs",
    "worktrees/w/gitdir",
    "worktrees/w/anything",
  ].map(
    (name): Case => ({
      name: `what no commit writes: ${name}`,
      ceiling: WRITE,
      sandbox: box([at(`/project/.git/${name}`)]),
      excess: /would open `\/project\/\.git\//,
    }),
  ),
  ...["index", "logs/refs/heads/main", "worktrees/w/COMMIT_EDITMSG"].map(
    (name): Case => ({
      name: `what a commit writes: ${name}`,
      ceiling: WRITE,
      sandbox: box([at(`/project/.git/${name}`)]),
    }),
  ),
  ...["rebase-apply", "sequencer", "branches", "remotes"].map(
    (name): Case => ({
      name: `a git directory with ${name} open`,
      ceiling: WRITE,
      sandbox: box(GIT("/project/.git", [name])),
      excess: new RegExp(`open .*/\\.git/${name}`),
    }),
  ),
  { name: "the git directory of a worktree", ceiling: WRITE, sandbox: box(GIT("/project/.git/worktrees/w")) },
  {
    name: "the git directories of all worktrees",
    ceiling: WRITE,
    sandbox: box([at("/project/.git/worktrees")]),
    excess: /worktrees/,
  },
  { name: "settings of agents", ceiling: WRITE, sandbox: box([at("/project/sub/.codex/rules")]), excess: /\.codex/ },
  {
    name: "a root below such a name",
    ceiling: bounded("workspace-write", ["/h/.codex/trees"]),
    sandbox: box([at("/h/.codex/trees/a")]),
    cwd: "/h/.codex/trees",
  },
  {
    name: "hooks where any directory may be written",
    ceiling: bounded("workspace-write", []),
    sandbox: box([at("/srv/x"), at("/srv/x/.git/hooks")]),
    excess: /hooks/,
  },
];

describe("a ceiling", () => {
  it.each(CASES)("$name", ({ ceiling, sandbox, cwd = "/project", excess }) => {
    const found = findExcess({ cwd, sandbox }, ceiling, CONTEXT);
    if (excess === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(excess);
  });

  it("resolves no path that was not named before", () => {
    for (const { ceiling, sandbox, cwd = "/project" } of CASES) {
      const { opened, closed } = getBoundedPaths({ cwd, sandbox }, CONTEXT);
      const named = new Set([...opened, ...closed]);
      const resolve = (path: string) => {
        expect(named).toContain(path);
        return CONTEXT.resolve(path);
      };
      findExcess({ cwd, sandbox }, ceiling, { ...CONTEXT, resolve });
    }
  });
});
