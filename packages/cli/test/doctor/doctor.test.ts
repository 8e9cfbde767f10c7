import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "../support.js";

const SECRET = "s3cret-value";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "codex-doctor-test-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

interface Told {
  ok: boolean;
  checks: { name: string; status: string; detail: string; fix?: string }[];
}

/** A home of the configuration and of the shells, so that those of the machine do not count. */
function createHome(name: string, files: Record<string, string> = {}) {
  const home = join(directory, name);
  mkdirSync(home, { mode: 0o700 });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text);
  return { HOME: home, CODEX_HOME: home, LC_ALL: "C.UTF-8" };
}

describe("codex doctor", () => {
  const command = useCommand();

  async function ask(env: Record<string, string>) {
    const child = command.start(["doctor", "--json"], { TOKEN: SECRET, ...env });
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    const told = JSON.parse(stdout.toString()) as Told;
    expect(stdout.toString() + stderr).not.toContain(SECRET);
    expect(stderr).toBe("");
    // What is wrong always comes with what to do.
    for (const { status, fix } of told.checks) expect(fix === undefined).toBe(status === "ok");
    expect(told.ok).toBe(code === 0);
    expect(told.checks.some(({ status }) => status === "problem")).toBe(code !== 0);
    return (name: string) => told.checks.find((check) => check.name === name);
  }

  it("finds what commands need here", async () => {
    const find = await ask(createHome("well"));
    for (const name of [
      "node",
      "pipes",
      "terminal",
      "shell sh",
      "temporary files",
      "loopback",
      "locale",
      "configuration",
    ]) {
      expect(find(name), name).toMatchObject({ status: expect.stringMatching(/^(ok|warning)$/) as string });
    }
    expect(find("node")?.detail).toContain(process.versions.node);
    expect(find("terminal")?.status).toBe("ok");
    expect(find("audit log")?.detail).toBe("off");
  });

  it("tells it to people, too", async () => {
    const child = command.start(["doctor"], createHome("text"));
    child.stdin.end();
    const { stdout } = await finish(child);
    expect(stdout.toString()).toMatch(/^ok +node +\d+\./);
    expect(stdout.toString()).toMatch(/\n\d+ ok, (1 warning|(?!1 )\d+ warnings), (1 problem|(?!1 )\d+ problems)\n$/);
  });

  it("goes on without a PATH", async () => {
    const find = await ask({ ...createHome("path"), PATH: "/nonexistent" });
    expect(find("shell sh")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("not in PATH") as string,
    });
    expect(find("terminal")?.status).toBe("ok");
  });

  it("finds that temporary files cannot be written", async () => {
    const find = await ask({ ...createHome("tmp"), TMPDIR: "/dev/null/tmp" });
    expect(find("temporary files")).toMatchObject({
      status: "problem",
      fix: expect.stringContaining("TMPDIR") as string,
    });
    expect(find("clock")?.status).toBe("ok");
  });

  it.skipIf(process.platform !== "linux")(
    "finds that there is no room for temporary files (/proc has none)",
    async () => {
      const find = await ask({ ...createHome("full"), TMPDIR: "/proc" });
      expect(find("temporary files")).toMatchObject({ status: "problem", detail: "/proc: 0 MiB free" });
    },
  );

  it.skipIf(process.platform !== "linux")("finds too few open files (the limit is read from /proc)", async () => {
    const child = spawn(
      "/bin/sh",
      ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, codex, "doctor", "--json"],
      {
        env: { ...process.env, ...createHome("files") },
      },
    );
    const { code, stdout } = await finish(child);
    const told = JSON.parse(stdout.toString()) as Told;
    expect(code).toBe(1);
    expect(told.checks.find(({ name }) => name === "open files")).toMatchObject({
      status: "problem",
      detail: "at most 64",
    });
  });

  it("finds a home that others can write in", async () => {
    const env = createHome("shared");
    chmodSync(env.CODEX_HOME, 0o777);
    const find = await ask(env);
    expect(find("codex home")).toMatchObject({
      status: "problem",
      fix: expect.stringContaining("chmod go-w") as string,
    });
  });

  it("finds that CODEX_HOME is not a directory", async () => {
    const find = await ask({ ...createHome("file"), CODEX_HOME: codex });
    expect(find("codex home")).toMatchObject({ status: "problem", detail: `${codex} is not a directory` });
  });

  it("finds a setting that cannot be used, and does not show what may be a secret", async () => {
    const text = `[shell_environment_policy.set]\nTOKEN = ["${SECRET}"]\n`;
    const find = await ask(createHome("config", { "config.toml": text }));
    expect(find("configuration")).toMatchObject({
      status: "problem",
      detail: expect.stringContaining("shell_environment_policy.set.TOKEN") as string,
    });
    expect(find("audit log")?.status).toBe("warning");
  });

  it("finds an audit log that cannot be written", async () => {
    const text = '[audit]\nenabled = true\nrequired = true\npath = "@/config.toml/audit.log"\n'.replace(
      "@",
      join(directory, "audit"),
    );
    const find = await ask(createHome("audit", { "config.toml": text }));
    expect(find("audit log")).toMatchObject({
      status: "problem",
      detail: expect.stringContaining("nothing will be run") as string,
    });
  });

  it.each([
    ["writes", `echo ${SECRET}`, "a login shell writes output of its own"],
    ["fails", "exit 7", "a login shell ends with 7"],
  ])("finds a login shell that %s", async (name, script, detail) => {
    const find = await ask(createHome(name, { ".profile": `${script}\n` }));
    expect(find("shell sh")).toMatchObject({ status: "warning", detail: expect.stringContaining(detail) as string });
  });
});
