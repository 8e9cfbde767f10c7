import type { Sandbox } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { renderBubblewrap } from "../../src/bubblewrap/render-arguments.js";
import type { FileKind, HostFiles } from "../../src/profile/host-files.js";
import { resolveProfile } from "../../src/profile/resolve-profile.js";
import { renderSeatbelt } from "../../src/seatbelt/render-profile.js";
import { entry, pattern, READ_ALL, restrict, type SandboxEntry } from "../support.js";

/** A host of these paths: `true` for a directory, text for a file, `{ link }` for a link. */
type Tree = Record<string, true | string | { link: string }>;

function createTree(tree: Tree, codexHome?: string): HostFiles {
  const get = (path: string) => (path === "/" ? true : tree[path]);
  const real = (path: string, depth = 0): string | undefined => {
    if (path === "/" || depth > 20) return "/";
    const parent = real(path.slice(0, path.lastIndexOf("/")) || "/", depth + 1);
    const here = `${parent === "/" ? "" : parent}${path.slice(path.lastIndexOf("/"))}`;
    const found = parent === undefined ? undefined : get(here);
    if (found === undefined) return undefined;
    return typeof found === "object" ? real(found.link, depth + 1) : here;
  };
  const kindOf = (path: string): FileKind => {
    const found = get(path);
    if (found === undefined) return "missing";
    return found === true ? "directory" : typeof found === "string" ? "file" : "link";
  };
  const list = (directory: string) =>
    Object.keys(tree)
      .filter((path) => (path.slice(0, path.lastIndexOf("/")) || "/") === directory)
      .map((path) => ({ name: path.slice(path.lastIndexOf("/") + 1), kind: kindOf(path) }));
  return {
    real,
    kind: kindOf,
    target: () => undefined,
    isPlainFile: () => true,
    isForeign: () => false,
    isShared: () => false,
    ownUndecodable: () => new Set(),
    isProgram: () => false,
    gitConfigs: [],
    home: undefined,
    parsed: () => undefined,
    firstLine: (path) => {
      const found = get(real(path) ?? "");
      return typeof found === "string" ? found.split("\n", 1)[0] : undefined;
    },
    list,
    listLater: async (directory) => list(directory),
    isPlaceholder: () => false,
    isEmpty: (directory) => list(directory).length === 0,
    tmpDir: "/var/tmp",
    codexHome,
    serverCache: undefined,
  };
}

const TREE: Tree = { "/w": true, "/w/.git": true, "/tmp": true, "/var": true, "/var/tmp": true, "/usr": true };

const resolve = (entries: readonly SandboxEntry[], tree: Tree = TREE, context: Omit<Sandbox, "permissions"> = {}) => {
  const { fileSystem } = resolveProfile(restrict(entries, context), createTree(tree));
  if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
  return fileSystem.entries.map(({ path, access, missing, pin }) =>
    [path, access, ...(missing ? ["missing"] : []), ...(pin ? ["pin"] : [])].join(" "),
  );
};
const special = (kind: string, access: SandboxEntry["access"], subpath?: string): SandboxEntry => ({
  // The tests name kinds that the type lists.
  path: { type: "special", value: { kind, subpath } as Extract<SandboxEntry["path"], { type: "special" }>["value"] },
  access,
});
const PROTECTED = ["/w/.agents read missing", "/w/.aws read missing", "/w/.codex read missing", "/w/.git read"];

describe("the profile of a sandbox", () => {
  it("examines each path once, however many entries are below it", () => {
    const files = createTree(TREE);
    const examined: string[] = [];
    const kind = (path: string) => {
      examined.push(path);
      return files.kind(path);
    };
    const names = ["/w/a", "/w/b", "/usr/c", "/usr/d"];
    resolveProfile(restrict([READ_ALL, entry("/w", "write"), ...names.map((name) => entry(name, "deny"))]), {
      ...files,
      kind,
    });
    expect(examined).toEqual([...new Set(examined)]);
  });

  it.each<[string, SandboxEntry[], Omit<Sandbox, "permissions">, string[]]>([
    [
      "a writable root and what is protected in it",
      [READ_ALL, entry("/w", "write")],
      {},
      ["/ read", "/w write", ...PROTECTED],
    ],
    ["a root that is not there", [READ_ALL, entry("/nowhere", "write")], {}, ["/ read"]],
    ["`none` for `deny`", [entry("/w", "none")], {}, ["/w deny"]],
    ["deny on the same path", [entry("/w", "write"), entry("/w/", "deny"), entry("/w", "read")], {}, ["/w deny"]],
    ["the working directory", [special("current_working_directory", "read")], { cwd: "/w" }, ["/w read"]],
    ["no working directory", [special("current_working_directory", "read")], {}, []],
    ["project roots", [special("project_roots", "read")], { workspaceRoots: ["/w", "/usr"] }, ["/usr read", "/w read"]],
    ["below project roots", [special("project_roots", "read", ".git")], { workspaceRoots: ["/w"] }, ["/w/.git read"]],
    ["the host's directory for temporary files", [special("tmpdir", "read")], {}, ["/var/tmp read"]],
    ["the client's", [special("tmpdir", "read")], { temporaryDirectories: ["/tmp"] }, ["/tmp read"]],
    ["/tmp", [special("slash_tmp", "read")], {}, ["/tmp read"]],
    ["nothing of an unknown kind", [special("unknown", "write")], {}, []],
    [
      "a pattern of a subtree for its root",
      [{ path: { type: "glob_pattern", pattern: "/w/**" }, access: "read" }],
      {},
      ["/w read"],
    ],
  ])("has %s", (_name, entries, context, wanted) => {
    expect(resolve(entries, TREE, context)).toEqual(wanted);
  });

  it("opens a protected path that has an entry of its own, and keeps what is closed within", () => {
    const tree = { ...TREE, "/w/.git/hooks": true as const };
    const entries = [entry("/w", "write"), entry("/w/.git", "write"), entry("/w/.git/hooks", "read")];
    expect(resolve(entries, tree).filter((line) => line.includes(".git"))).toEqual([
      "/w/.git write",
      "/w/.git/hooks read",
    ]);
  });

  it("follows a .git file to its git directory and the shared one, there or not", () => {
    const tree: Tree = {
      "/w": true,
      "/w/t": true,
      "/w/t/.git": "gitdir: ../m/.git/worktrees/t\n",
      "/w/m": true,
      "/w/m/.git": true,
    };
    expect(resolve([entry("/w", "write"), entry("/w/t", "write")], tree)).toEqual(
      expect.arrayContaining([
        "/w/t/.git read",
        "/w/m/.git read",
        "/w/m write pin",
        "/w/m/.git/worktrees read missing",
      ]),
    );
  });

  it("keeps the names of directories on the way to a closed one", () => {
    const tree = { ...TREE, "/w/a": true as const, "/w/a/b": true as const, "/w/a/b/c": "x" };
    const lines = resolve([entry("/w", "write"), entry("/w/a/b/c", "deny")], tree);
    expect(lines.filter((line) => line.startsWith("/w/a"))).toEqual([
      "/w/a write pin",
      "/w/a/b write pin",
      "/w/a/b/c deny",
    ]);
  });

  it("keeps the first missing part of a closed path free", () => {
    expect(resolve([entry("/w", "write"), entry("/w/x/y", "deny")])).toContain("/w/x deny missing");
    expect(resolve([READ_ALL, entry("/x/y", "deny")])).toEqual(["/ read"]);
  });

  it("keeps no name free where nobody can make it", () => {
    const tree = { ...TREE, "/w/k": true as const, "/w/k/here": "x" };
    const open = [entry("/w/k/here", "read"), entry("/w/k/gone", "read")];
    const lines = resolve([READ_ALL, entry("/w", "write"), entry("/w/k", "deny"), ...open], tree);
    expect(lines.filter((line) => line.startsWith("/w/k"))).toEqual(["/w/k deny", "/w/k/here read"]);
  });

  it("closes what a pattern names, whatever is opened within", () => {
    const tree = { ...TREE, "/w/s": true as const, "/w/s/.env": "x", "/w/s/in": true as const };
    const lines = resolve([READ_ALL, pattern("/w/**/.env"), pattern("/w/s"), entry("/w/s/in", "write")], tree);
    expect(lines).toEqual(["/ read", "/w/s deny"]);
  });

  it.each([
    ["**/*.env", { cwd: "/w[1]" }, ["/w[1]/s/x.env deny"]],
    ["../w2/s/?.env", { cwd: "/w[1]" }, ["/w2/s/y.env deny"]],
    [
      "codex-project-roots://**/*.env",
      { workspaceRoots: ["/w[1]", "/w2"] },
      ["/w2/s/y.env deny", "/w[1]/s/x.env deny"],
    ],
    ["codex-project-roots://s/./x.env", { workspaceRoots: ["/w[1]"] }, ["/w[1]/s/x.env deny"]],
    ["codex-project-roots://s", { workspaceRoots: ["/w[1]"] }, ["/w[1]/s deny"]],
  ])("takes the pattern %s for %o", (text, context, wanted) => {
    const tree: Tree = {
      "/w[1]": true,
      "/w[1]/s": true,
      "/w[1]/s/x.env": "",
      "/w2": true,
      "/w2/s": true,
      "/w2/s/y.env": "",
    };
    expect(resolve([READ_ALL, pattern(text)], tree, context)).toEqual(["/ read", ...wanted]);
  });

  it("takes a link outside of what may be written for what it leads to", () => {
    expect(resolve([entry("/l", "read")], { ...TREE, "/l": { link: "/usr" } })).toEqual(["/usr read"]);
  });

  it.each<[string, SandboxEntry[], Tree, RegExp]>([
    [
      "a protected link",
      [entry("/w", "write")],
      { "/w": true, "/w/.git": { link: "/usr" }, "/usr": true },
      /`\/w\/\.git` crosses/,
    ],
    [
      "a denied link",
      [entry("/w", "write"), entry("/w/l", "deny")],
      { ...TREE, "/w/l": { link: "/usr" } },
      /symbolic link/,
    ],
    [
      "a writable link",
      [entry("/w", "write"), entry("/w/l", "write")],
      { ...TREE, "/w/l": { link: "/usr" } },
      /symbolic link/,
    ],
    ["a pattern for roots that are not told", [pattern("codex-project-roots://x")], TREE, /needs `workspaceRoots`/],
    ["a pattern of another kind", [pattern("codex-homes://x")], TREE, /`codex-homes:\/\/x` is of an unknown kind/],
    [
      "a pattern that opens",
      [{ path: { type: "glob_pattern", pattern: "/w/*" }, access: "write" }],
      TREE,
      /`\/w\/\*`.*`deny`/,
    ],
    ["project roots of nothing", [special("project_roots", "read")], TREE, /workspaceRoots/],
    ["a subpath that leaves", [special("slash_tmp", "write", "../etc")], TREE, /subpath `\.\.\/etc`/],
    ["a relative path", [entry("w", "write")], TREE, /`w` is not absolute/],
    ["minimal to write", [special("minimal", "write")], TREE, /`minimal`/],
    ["an unknown kind to deny", [special("unknown", "deny")], TREE, /unknown/],
  ])("refuses %s", (_name, entries, tree, message) => {
    expect(() => resolve(entries, tree)).toThrow(expect.objectContaining({ code: "sandbox_invalid" }));
    expect(() => resolve(entries, tree)).toThrow(message);
  });

  it.each<[Sandbox["permissions"], unknown]>([
    [{ type: "disabled" }, { fileSystem: "unrestricted", network: "enabled" }],
    [
      { type: "external", network: "restricted" },
      { fileSystem: "unrestricted", network: "restricted" },
    ],
    [
      { type: "managed", file_system: { type: "unrestricted" }, network: "enabled" },
      { fileSystem: "unrestricted", network: "enabled" },
    ],
  ])("of %j", (permissions, wanted) => {
    expect(resolveProfile({ permissions }, createTree({}))).toEqual(wanted);
  });
});

describe("the directory of codex itself", () => {
  const tree: Tree = {
    ...TREE,
    ...{ "/tmp/ch": true, "/tmp/ch/rules": true, "/w/ch": true, "/w/dot": true, "/w/dot/rules": true },
    ...{ "/home": true, "/home/u": true, "/home/u/.codex": true, "/home/u/.codex/rules": { link: "/w/dot/rules" } },
    ...{ "/home/u/link": { link: "/w/ch" }, "/w/inner": { link: "/w/ch" }, "/home/u/.codex/work": true },
  };
  const resolveWith = (home: string, entries: SandboxEntry[]) => {
    const { fileSystem } = resolveProfile(restrict([READ_ALL, ...entries]), createTree(tree, home));
    if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
    return fileSystem.entries.map(({ path, access, missing }) => `${path} ${access}${missing ? " missing" : ""}`);
  };

  it.each([
    ["below /tmp", "/tmp/ch", "/tmp", "/tmp/ch read"],
    ["in the workspace", "/w/ch", "/w", "/w/ch read"],
    ["not there yet", "/w/new/deep", "/w", "/w/new read missing"],
    ["in a home directory within a root", "/home/u/.codex", "/home", "/home/u/.codex read"],
    ["behind a link", "/home/u/link", "/w", "/w/ch read"],
    ["with rules behind a link", "/home/u/.codex", "/w", "/w/dot/rules read"],
  ])("is read-only: %s", (_where, home, root, expected) => {
    expect(resolveWith(home, [entry(root, "write")])).toContain(expected);
  });

  it.each([
    ["is the root", "/tmp", "/tmp"],
    ["is the root behind a link", "/home/u/link", "/w/ch"],
    ["has its rules as the root", "/home/u/.codex", "/w/dot/rules"],
    ["lies behind a link that could be replaced", "/w/inner", "/w"],
  ])("is refused where it %s", (_where, home, root) => {
    expect(() => resolveWith(home, [entry(root, "write")])).toThrow(/CODEX_HOME|symbolic link/);
  });

  it("leaves open what was named below it, and is nothing to others", () => {
    expect(resolveWith("/home/u/.codex", [entry("/home/u/.codex/work", "write")])).toContain(
      "/home/u/.codex/work write",
    );
    expect(resolveWith("/home/u/.codex", [entry("/tmp", "write")])).not.toContain("/home/u/.codex read");
  });
});

describe("the options of bubblewrap", () => {
  const render = (entries: readonly SandboxEntry[], network: "restricted" | "enabled" = "restricted") => {
    const profile = resolveProfile(restrict(entries, { network }), createTree({ ...TREE, "/w/f": "x", "/w/d": true }));
    const command = { argv: ["prog", "arg"], cwd: "/w", env: { A: "secret" }, session: "new" as const };
    const { args, options } = renderBubblewrap(command, profile, { options: 3, seccomp: 4, status: 5 });
    return { args, text: options.toString().replaceAll("\0", " ") };
  };

  it("shows nothing of the environment in the arguments", () => {
    const { args, text } = render([READ_ALL]);
    expect(args).toEqual(["--args", "3", "--", "prog", "arg"]);
    expect(text).toContain("--clearenv --setenv A secret --setenv CODEX_SANDBOX_NETWORK_DISABLED 1 ");
  });

  it("mounts outer paths before inner ones, and closes at the end", () => {
    const { text } = render([READ_ALL, entry("/w", "write"), entry("/w/f", "deny"), entry("/w/d", "deny")]);
    const order = ["--ro-bind / / --dev /dev --proc /proc", "--ro-bind-try /proc/sys /proc/sys", "--bind /w /w"];
    const inner = [
      "--ro-bind /w/.git /w/.git",
      "--perms 0000 --tmpfs /w/d",
      "--ro-bind /dev/null /w/f",
      "--remount-ro /w/d",
    ];
    const places = [...order, ...inner].map((option) => text.indexOf(option));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it("cuts the network off, or leaves it", () => {
    expect(render([READ_ALL]).text).toContain("--unshare-net");
    expect(render([READ_ALL], "enabled").text).not.toMatch(/--unshare-net|NETWORK_DISABLED/);
  });

  it("begins with nothing where not everything may be read", () => {
    const { text } = render([entry("/w", "read"), special("minimal", "read")]);
    expect(text).toMatch(/--tmpfs \/ .*--ro-bind-try \/usr \/usr .*--ro-bind \/w \/w .*--remount-ro \/ /);
    expect(text).not.toContain("--ro-bind / /");
  });
});

describe("the profile for seatbelt", () => {
  it("hands paths over as parameters, inner rules after outer ones", () => {
    const tree = createTree({ ...TREE, '/w/"))(allow default': true });
    const sandbox = restrict([READ_ALL, entry("/w", "write"), entry('/w/"))(allow default', "deny")]);
    const { profile, parameters } = renderSeatbelt(resolveProfile(sandbox, tree));
    expect(profile).not.toContain("allow default");
    const inner = parameters.find((parameter) => parameter.endsWith('/w/"))(allow default'))?.split("=")[0];
    const [outside, within] = ["P1", inner].map((name) => profile.indexOf(`file-write* (subpath (param "${name}"))`));
    expect(outside).toBeGreaterThan(0);
    expect(within).toBeGreaterThan(outside!);
    expect(profile).toContain("(deny default)");
    expect(profile).not.toContain("(allow network*)");
  });

  it("opens the network alone", () => {
    const { profile } = renderSeatbelt({ fileSystem: { entries: [], minimal: false }, network: "enabled" });
    expect(profile).toContain("(allow network*)");
    expect(profile).not.toContain("(allow file*)");
  });
});
