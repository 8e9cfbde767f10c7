// What a command reads and writes under permission profiles: as recorded from `codex sandbox -P` of Codex 0.169.0, and beside it where
// `CODEX_BINARY` names it.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { functionCall, respond, say } from "@codex/agent/testing";
import { loadConfig } from "@codex/config";
import { createSandboxSelector } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { outputOf, useBackend } from "../../process-host/test/support.js";
import { setUpAgent } from "./agent/support.js";
import { finish, useCommand } from "./support.js";

const CODEX_BINARY = process.env.CODEX_BINARY ?? "";
const command = useCommand();
const support = await createCommandSandbox().getSupport();

let base = "";
beforeAll(() => {
  // Codex has no helper below the directory for temporary files.
  base = realpathSync(mkdtempSync("/var/tmp/codex-profiles-"));
  for (const directory of ["home", "work/docs", "other"]) mkdirSync(join(base, directory), { recursive: true });
  for (const file of ["work/docs/d", "work/.env", "other/s"]) writeFileSync(join(base, file), "x");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const READ = { o: "other/s", d: "work/docs/d", e: "work/.env" };
const WRITTEN = { W: "work/x", D: "work/docs/x", O: "other/x", T: "/tmp/x", G: "work/.git/x" };

/** Prints a letter for each file that it could read, and for each that it could write. */
const script = () => {
  const at = (path: string) => (path.startsWith("/") ? `${path}-$$` : join(base, path));
  const reads = Object.entries(READ).map(
    ([letter, path]) => `head -c1 ${at(path)} >/dev/null 2>&1 && printf ${letter}`,
  );
  const writes = Object.entries(WRITTEN).map(
    ([letter, path]) => `(: >${at(path)}) 2>/dev/null && printf ${letter} && rm ${at(path)}`,
  );
  return [...reads, ...writes].join("\n");
};

/** What follows `[permissions.dev]`, and what can be done. `error`: nothing runs. */
const PROFILES: readonly [profile: string, can: string, real?: string][] = [
  ['extends = ":read-only"', "ode"],
  ['extends = ":workspace"', "odeWDT"],
  ['[permissions.dev.filesystem]\n":root" = "read"\n$"other" = "write"', "odeO"],
  ['[permissions.dev.filesystem]\n":root" = "read"\n":workspace_roots" = "write"', "odeWD"],
  ['[permissions.dev.filesystem]\n":root" = "read"\n":workspace_roots" = { "docs" = "write" }', "odeD"],
  ['[permissions.dev.filesystem]\n":root" = "read"\n":slash_tmp" = "write"\n$"other/s" = "deny"', "deT"],
  ['[permissions.dev.filesystem]\n":root" = "write"', "odeWDOT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"other" = "deny"', "deWDT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"**/s" = "deny"', "deWDT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"other" = "write"', "odeWDOT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"work/../other" = "write"', "odeWDOT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"work" = { "docs" = "read" }', "odeWT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n$"work/docs" = "none"', "oeWT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n":workspace_roots" = "read"', "odeT"],
  [
    'extends = ":workspace"\n[permissions.dev.filesystem]\n":workspace_roots" = { "docs" = "deny", "**/.env" = "deny" }',
    "oWT",
  ],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n":slash_tmp" = "read"', "odeWD"],
  [
    'extends = "mid"\n[permissions.dev.filesystem]\n$"other" = "deny"\n[permissions.mid]\nextends = ":workspace"\n[permissions.mid.filesystem]\n$"other" = "write"\n":slash_tmp" = "read"',
    "deWD",
  ],
  ['extends = "dev"', "error"],
  ['extends = "missing"', "error"],
  ['[permissions.dev.filesystem]\n"relative" = "read"', "error"],
  ['[permissions.dev.filesystem]\n$"*" = "write"', "error"],
  ['[permissions.dev.filesystem]\n":workspace_roots" = { "../other" = "write" }', "error"],
  ['[permissions.dev.filesystem]\n":tmpdir" = { "sub" = "write" }', "error"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\nglob_scan_max_depth = 0', "error"],
  // Codex leaves out what it does not know.
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n":cwd" = "deny"', "error", "odeWDT"],
  ['extends = ":workspace"\n[permissions.dev.filesystem]\n":minimal" = "write"', "error", "odeWDT"],
];

describe.runIf(support.kind === "bubblewrap")("a permission profile", () => {
  const host = useBackend();
  const configure = (profile: string) =>
    writeFileSync(join(base, "home/config.toml"), `[permissions.dev]\n${profile.replaceAll('$"', `"${base}/`)}\n`);
  const args = (profile = "dev") => ["sandbox", "-P", profile, "--", "/bin/bash", "-c", script()];

  it.each(PROFILES)("%s: %s", async (profile, can) => {
    configure(profile);
    const cwd = join(base, "work");
    const config = loadConfig({
      home: join(base, "home"),
      homeOrigin: { kind: "default" },
      system: join(base, "system"),
      directory: cwd,
      flags: [{ flag: "-P dev", setting: 'default_permissions="dev"' }],
    });
    if (can === "error") return expect(config).rejects.toThrow(/config\.toml/);
    const { sandbox } = (await config).settings;
    const selected = createSandboxSelector({ ...sandbox, codexHome: join(base, "home") }).select({
      ...{ environment: "local", host: undefined, cwd, workspaceRoots: [cwd], bypassSandbox: false },
      ...{ sandboxPermissions: "use_default", additionalPermissions: null },
    });
    if (selected === null || "refused" in selected) throw new Error(JSON.stringify(selected));
    const process = await host.run(["/bin/bash", "-c", script()], { cwd, sandbox: selected });
    expect(await outputOf(process)).toBe(can);
  });

  it("is chosen with `-P`, as a mode is", async () => {
    configure('extends = ":workspace"\n[permissions.dev.filesystem]\n$"other" = "deny"');
    const run = async (profile: string) => {
      const child = command.startIn(join(base, "work"), args(profile), { CODEX_HOME: join(base, "home") });
      child.stdin.end();
      return finish(child);
    };
    const [own, built, none] = await Promise.all(["dev", ":read-only", "other"].map(run));
    expect([own!.stdout.toString(), built!.stdout.toString(), none!.stdout.toString()]).toEqual(["deWDT", "ode", ""]);
    expect(none!.stderr).toContain('permission profile "other" is none of');
  });

  it.runIf(CODEX_BINARY !== "").each(PROFILES)("Codex, %s: %s", async (profile, can, real = can) => {
    configure(profile);
    const options = { cwd: join(base, "work"), env: { ...process.env, CODEX_HOME: join(base, "home") } };
    const { stdout } = await promisify(execFile)(CODEX_BINARY, args(), options).catch((error: { stdout: string }) => ({
      stdout: error.stdout,
    }));
    expect(stdout === "" ? "error" : stdout).toBe(real);
  });
});

it.skipIf(support.kind === "none").each([
  ['default_permissions = "dev"', "dev"],
  ['sandbox_mode = "workspace-write"', ""],
])("commands of a model get the name of their profile as CODEX_PERMISSION_PROFILE: %s", async (chosen, name) => {
  const show = respond(functionCall("c1", "exec_command", { cmd: "echo [$CODEX_PERMISSION_PROFILE]", login: false }));
  const config = `${chosen}\n[permissions.dev]\nextends = ":workspace"`;
  const { endpoint, env, repository } = await setUpAgent(command, [show, say("done")], { config });
  // That of a program around this one does not count.
  const child = command.startIn(repository, ["exec", "go"], { ...env, CODEX_PERMISSION_PROFILE: "outer" });
  child.stdin.end();
  expect((await finish(child)).code).toBe(0);
  expect(JSON.stringify(endpoint.requests.at(-1)?.body.input.at(-1))).toContain(`[${name}]`);
});
