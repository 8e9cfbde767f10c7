import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VERSION } from "@codex/servers";
import { describe, expect, it } from "vitest";
import { codex, useCommand } from "./support.js";

describe("codex", () => {
  const command = useCommand();

  it("has the version of its package", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(VERSION).toBe(manifest.version);
    const servers = ["executor", "exec-server", "rendezvous", "mcp-server", "view"].map((server) => [server]);
    for (const args of [[], ...servers, ["exec"], ["resume"], ["executor", "--listen", "ws://127.0.0.1:0"]]) {
      const { code, stdout } = await command.run([...args, "--version"]);
      expect([code, stdout.toString()], args.join(" ")).toEqual([0, `codex (TypeScript) ${VERSION}\n`]);
    }
  });

  it("keeps nothing that it runs among temporary files", () => {
    const [home, temporary] = ["home", "tmp"].map((name) => mkdtempSync(join(tmpdir(), `codex-${name}-`)));
    const env = { ...process.env, CODEX_HOME: home, TMPDIR: temporary };
    for (const args of [["--version"], ["execpolicy", "--help"]])
      execFileSync(process.execPath, [codex, ...args], { env });
    expect(readdirSync(temporary!)).toEqual([]);
    // Only newer versions of Node keep compiled code.
    expect(readdirSync(home!)).toEqual("enableCompileCache" in module ? ["cache"] : []);
    for (const directory of [home, temporary]) rmSync(directory!, { recursive: true });
  });

  it("starts with what the build has compiled, and needs no cache of Node's there", () => {
    const home = mkdtempSync(join(tmpdir(), "codex-home-"));
    const isCompiled = (name: string) => name.startsWith(`tools-list.pack.cjs.${process.versions.v8}-`);
    expect(readdirSync(join(dirname(codex), "parts")).filter(isCompiled), "built by another Node").toHaveLength(1);
    execFileSync(process.execPath, [codex, "tools", "list"], { env: { ...process.env, CODEX_HOME: home } });
    expect(readdirSync(home)).not.toContain("cache");
    rmSync(home, { recursive: true });
  });

  it("helps", async () => {
    const { code, stdout } = await command.run(["--help"]);
    expect(code).toBe(0);
    for (const name of ["executor", "run", "tools", "execpolicy", "sessions", "completion"])
      expect(stdout.toString()).toContain(name);
  });

  it.each([
    [["dance"], "dance"],
    [["run"], "program"],
    [["run", "--dance"], "--dance"],
    [["run", "--timeout", "soon", "--", "true"], "soon"],
    [["executor", "--max-sessions", "0"], "0"],
    [["completion", "tcsh"], "tcsh"],
    [["tools", "call", "no_such_tool"], "no_such_tool"],
  ])("says what is wrong with %j", async (args, named) => {
    const { code, stdout, stderr } = await command.run(args);
    expect(code).toBe(2);
    expect(stdout.toString()).toBe("");
    expect(stderr).toContain(named);
  });
});

describe("codex tools", () => {
  const command = useCommand();

  it("lists and describes the tools", async () => {
    const list = JSON.parse((await command.run(["tools", "list", "--json"])).stdout.toString()) as { name: string }[];
    expect(list.map((tool) => tool.name)).toContain("exec_command");
    const spec = JSON.parse((await command.run(["tools", "spec", "exec_command"])).stdout.toString());
    expect(spec).toMatchObject({ name: "exec_command", inputSchema: { type: "object", required: ["cmd"] } });
  });

  it("calls a tool with a model's arguments", async () => {
    const { code, stdout } = await command.run([
      ...["tools", "call", "-s", "danger-full-access", "exec_command"],
      '{"cmd":"echo hi; exit 4","login":false}',
    ]);
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/Process exited with code 4\n.*\nOutput:\nhi\n$/s);
    const piped = ["tools", "call", "-s", "danger-full-access", "exec_command", "-", "--json"];
    const json = await command.run(piped, '{"cmd":"echo hi; exit 4","login":false}');
    const text = expect.stringMatching(/\nhi\n$/);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ status: "success", text, structured: { exitCode: 4 } });
  });

  it("denies what needs approval where nobody can be asked", async () => {
    const { code, stdout } = await command.run(["tools", "call", "exec_command", '{"cmd":"rm -rf /tmp/nothing-here"}']);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/not approved|needs approval/);
  });
});
