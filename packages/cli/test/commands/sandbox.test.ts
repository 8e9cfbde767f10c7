import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createCommandSandbox } from "@codex/sandbox";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";

const { kind, problem } = await createCommandSandbox().getSupport();

describe.skipIf(kind === "none")(`codex sandbox (${problem ?? kind})`, () => {
  const command = useCommand();
  let root: string;
  beforeEach(() => {
    // Not below the directory for temporary files, which may be written.
    root = mkdtempSync(join("/var/tmp", "codex-trial-"));
    mkdirSync(join(root, "w/.git"), { recursive: true });
    for (const name of ["more", "home", "tmp"]) mkdirSync(join(root, name));
    writeFileSync(join(root, "w/prod.env"), "key\n");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));
  const run = async (args: readonly string[], input = "") => {
    const env = { CODEX_HOME: join(root, "home"), TMPDIR: join(root, "tmp") };
    const child = command.startIn(join(root, "w"), ["sandbox", ...args], env);
    child.stdin.end(input);
    const { code, stdout, stderr } = await finish(child);
    const plain = (text: string) => text.replaceAll(root, "ROOT");
    return { code, stdout: plain(stdout.toString()), stderr: plain(stderr) };
  };

  it("passes streams and the exit code on", async () => {
    const script = "cat; echo err >&2; exit 7";
    expect(await run(["--", "sh", "-c", script], "in\n")).toEqual({ code: 7, stdout: "in\n", stderr: "err\n" });
  });

  it("tells what was refused, and writes nothing where nobody said a mode", async () => {
    const { code, stderr } = await run(["--", "touch", "x"]);
    expect(code).toBe(1);
    expect(stderr).toContain("codex: the sandbox refused `ROOT/w/x`: Read-only file system\n");
    expect(readdirSync(join(root, "w")).sort()).toEqual([".git", "prod.env"]);
  });

  it("takes a guess for one", async () => {
    const { stderr } = await run(["--", "sh", "-c", "echo 'Operation not permitted'; exit 3"]);
    expect(stderr).toMatch(/^codex: the sandbox may be the cause .* a guess/);
  });

  it("opens and closes what the flags say, over the configuration", async () => {
    writeFileSync(join(root, "home/config.toml"), 'sandbox_mode = "workspace-write"\n');
    const script = "touch x ../more/x; cat prod.env || exit 5";
    const flags = ["--writable-root", "../more", "--deny", "**/*.env"];
    const { code, stderr } = await run([...flags, "--", "sh", "-c", script]);
    expect(code).toBe(5);
    expect(stderr).toContain("the sandbox refused `ROOT/w/prod.env`");
    expect([existsSync(join(root, "w/x")), existsSync(join(root, "more/x"))]).toEqual([true, true]);
    expect((await run(["-s", "read-only", "--", "touch", "y"])).code).toBe(1);
  });

  it("explains every path and runs nothing", async () => {
    const flags = ["-s", "workspace-write", "--deny", "**/*.env", "--explain"];
    const { code, stdout } = await run([...flags, "--", "touch", "x"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^read {4}\/ +`root`$/m);
    expect(stdout).toMatch(/^write {3}ROOT\/w +`project_roots`$/m);
    expect(stdout).toMatch(/^read {4}ROOT\/w\/\.git +.*never written$/m);
    expect(stdout).toMatch(/^read {4}ROOT\/w\/\.codex +missing, and cannot be created; /m);
    expect(stdout).toMatch(/^closed {2}ROOT\/w\/prod\.env +pattern `ROOT\/w\/\*\*\/\*\.env`$/m);
    expect(stdout).toMatch(/^network {2}closed$/m);
    expect(stdout).toMatch(kind === "bubblewrap" ? /\/bwrap .*--unshare-net .* -- \S*\/touch x$/m : /sandbox-exec -p /);
    expect(readdirSync(join(root, "w")).sort()).toEqual([".git", "prod.env"]);
  });

  it("takes a whole sandbox as JSON", async () => {
    const entries = [
      { path: { type: "special", value: { kind: "minimal" } }, access: "read" },
      { path: { type: "special", value: { kind: "project_roots" } }, access: "write" },
    ];
    const fileSystem = { type: "restricted", entries };
    const permissions = { type: "managed", file_system: fileSystem, network: "restricted" };
    writeFileSync(join(root, "p.json"), JSON.stringify({ permissions }));
    const { code, stderr } = await run(["--profile-json", "../p.json", "--", "sh", "-c", "touch x && ls ../more"]);
    expect([code, stderr.split("\n", 1)[0]]).toEqual([2, "ls: cannot access '../more': No such file or directory"]);
    expect(existsSync(join(root, "w/x"))).toBe(true);
  });

  describe("with what Codex tells MCP servers of its sandbox", () => {
    /** As recorded from Codex 0.169.0, for the directory `w`. */
    const state = (network: string, more: object = {}) => {
      const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
      const w = join(root, "w");
      const skipped = { path: { type: "path", path: join(w, ".git") }, access: "read", missing_path_behavior: "skip" };
      const entries = [special("minimal", "read"), { path: { type: "path", path: w }, access: "write" }, skipped];
      return JSON.stringify({
        permissionProfile: { type: "managed", file_system: { type: "restricted", entries }, network },
        codexLinuxSandboxExe: "/somewhere/codex-linux-sandbox",
        sandboxCwd: pathToFileURL(w).href,
        useLegacyLandlock: false,
        useMxc: false,
        ...more,
      });
    };
    const script = "pwd; touch x; touch .git/y; cat ../shared/file";
    const runState = (...args: string[]) => run(["--sandbox-state-json", ...args, "--", "sh", "-c", script]);

    it("runs a program in that sandbox, in its directory", async () => {
      mkdirSync(join(root, "shared"));
      writeFileSync(join(root, "shared/file"), "secret");
      const { stdout, stderr } = await runState(state("restricted"));
      expect(stdout).toBe("ROOT/w\n");
      expect(stderr).toMatch(/touch: .*\.git\/y.*\n(?:.*\n)*cat: .*shared\/file/);
      expect(existsSync(join(root, "w/x"))).toBe(true);
      const readable = await runState(state("restricted"), "--sandbox-state-readable-root", join(root, "shared"));
      expect(readable.stdout).toContain("secret");
    });

    it.skipIf(kind !== "bubblewrap")("keeps devices and restrictions where everything may be written", async () => {
      const w = join(root, "w");
      for (const directory of ["closed", "kept"]) mkdirSync(join(w, directory));
      writeFileSync(join(w, "closed/f"), "secret");
      const at = (path: string, access: string) => ({ path: { type: "path", path: join(w, path) }, access });
      const entries = [
        { path: { type: "special", value: { kind: "root" } }, access: "write" },
        at("closed", "deny"),
        at("kept", "read"),
      ];
      const permissionProfile = {
        type: "managed",
        file_system: { type: "restricted", entries },
        network: "restricted",
      };
      const tried = [
        "cat closed/f",
        "touch kept/f",
        "mv closed moved",
        "mv kept moved",
        `mv ${w} ${w}-moved`,
        "touch made",
        "head -c1 /dev/urandom >/dev/null && echo x >/dev/null && test -c /dev/ptmx && echo devices",
      ];
      const json = state("restricted", { permissionProfile });
      const { stdout } = await run(["--sandbox-state-json", json, "--", "sh", "-c", tried.join("\n")]);
      expect(stdout).toBe("devices\n");
      expect(readdirSync(w).sort()).toEqual(expect.arrayContaining(["closed", "kept", "made"]));
      expect(readdirSync(join(w, "kept"))).toEqual([]);
      // A link that the program could replace would lift the restriction.
      symlinkSync(join(w, "kept"), join(w, "link"));
      entries.push(at("link", "deny"));
      const linked = state("restricted", { permissionProfile });
      expect((await run(["--sandbox-state-json", linked, "--", "true"])).stderr).toContain("crosses the symbolic link");
    });

    it("has no network where it is taken away", async () => {
      const explain = async (...args: string[]) =>
        (await run(["--sandbox-state-json", ...args, "--explain", "--", "true"])).stdout;
      expect(await explain(state("enabled"))).toMatch(/^network {2}open/m);
      expect(await explain(state("enabled"), "--sandbox-state-disable-network")).toMatch(/^network {2}closed$/m);
      const off = state("restricted", { permissionProfile: { type: "disabled" } });
      expect(await explain(off, "--sandbox-state-disable-network")).toMatch(/^network {2}closed$/m);
    });

    it.each([
      ["no JSON", "{", "--sandbox-state-json: "],
      [
        "a member that is not known",
        '{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///","only":1}',
        "only",
      ],
      ["a path", '{"permissionProfile":{"type":"disabled"},"sandboxCwd":"/tmp"}', "`sandboxCwd`: expected a file URL"],
      ["nothing", "{}", "`permissionProfile`"],
    ])("refuses %s", async (_, json, text) => {
      expect(await runState(json)).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    });

    it.each([
      ["--sandbox", "read-only"],
      ["--permission-profile", ":read-only"],
      ["--cd", "."],
      ["--deny", "x"],
    ])("excludes %s", async (...args) => {
      expect((await runState(state("restricted"), ...args)).code).toBe(2);
    });
  });

  it.each([
    [["--sandbox-state-disable-network", "--", "true"], 2, "--sandbox-state-json"],
    [["--include-managed-config", "--", "true"], 2, "--permission-profile"],
    [["--disable", "no_such_feature", "--", "true"], 1, "no_such_feature"],
    [["--network", "--", "true"], 2, "--network needs mode workspace-write; the mode is read-only"],
    [["--writable-root", "/", "-s", "workspace-write", "--", "true"], 1, "`/` is everything"],
    [["--profile-json", "nowhere.json", "--", "true"], 2, 'codex: --profile-json "nowhere.json": ENOENT'],
    [["--profile-json", "prod.env", "--deny", "x", "--", "true"], 2, "it excludes the other sandbox options"],
    [["--", "no-such-program"], 127, "`no-such-program` was not found"],
    [["--explain", "--", "no-such-program"], 127, "`no-such-program` was not found"],
    [["--check", "true"], 2, "--check takes no program"],
    [[], 2, "no program was given"],
  ])("refuses %j", async (args, code, text) => {
    const result = await run(args);
    expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(text) });
  });

  it("says that there is none in danger-full-access, and runs", async () => {
    const { code, stderr } = await run(["-s", "danger-full-access", "--", "touch", "x"]);
    expect([code, stderr]).toEqual([0, "codex: there is no sandbox in mode danger-full-access\n"]);
    expect(existsSync(join(root, "w/x"))).toBe(true);
  });

  it("checks this host", async () => {
    expect(await run(["--check"])).toEqual({ code: 0, stdout: `${kind}: works\n`, stderr: "" });
  });
});
