import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "./support.js";

const probe = createLocalBackend();
const support = (await probe.getSandboxSupport?.()) ?? { kind: "none" };
await probe.close();

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/codex-run-sandbox-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const command = useCommand();
const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

async function run(...args: string[]) {
  const child = command.startIn(base, ["run", ...args], { CODEX_HOME: join(base, "home") });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
}

const bounded = (...args: string[]) => [
  "--executor",
  ["exec", process.execPath, codex, "executor", ...args].map((word, at) => (at === 0 ? word : quote(word))).join(" "),
];

describe("codex run and an executor with a ceiling", () => {
  it.each([
    [["--max-sandbox", "read-only"], "read-only"],
    [["--max-network", "off"], "workspace-write"],
  ])("%j says which --sandbox it needs, and starts nothing", async (ceiling, mode) => {
    for (const flags of [[], ["-s", "danger-full-access"]]) {
      expect(await run(...flags, ...bounded(...ceiling), "--", "touch", join(base, "ran"))).toEqual({
        code: 126,
        stdout: "",
        stderr: `codex: the executor runs nothing without a sandbox: it allows at most ${mode}; use --sandbox ${mode}\n`,
      });
    }
    expect(existsSync(join(base, "ran"))).toBe(false);
  });
});

describe.skipIf(support.kind === "none")(`codex run --sandbox (${support.problem ?? support.kind})`, () => {
  it.each(["executor", "exec-server"])("ends with 126 for what the sandbox could not start: %s", async (server) => {
    const script = join(base, "script");
    writeFileSync(script, "#!/nowhere/interpreter\n", { mode: 0o755 });
    const address = ["exec", ...[process.execPath, codex, server, "--listen", "stdio://"].map(quote)].join(" ");
    const place = server === "executor" ? [] : ["--executor", address];
    const { code, stderr } = await run("-s", "read-only", ...place, "-C", base, "--", script);
    expect([code, stderr]).toEqual([126, expect.stringContaining("the sandbox did not start the program: execvp")]);
    expect(stderr).not.toContain("a guess");
  });

  it("read-only writes nothing, and says what was refused", async () => {
    const { code, stderr } = await run("-s", "read-only", "--", "touch", join(base, "x"));
    expect({ code, made: existsSync(join(base, "x")) }).toEqual({ code: 1, made: false });
    expect(stderr).toContain("codex: the sandbox refused");
  });

  it("workspace-write writes where the program starts, and nowhere else", async () => {
    const other = realpathSync(mkdtempSync("/var/tmp/codex-run-other-"));
    try {
      const script = `touch ${base}/in; touch ${other}/out; echo done`;
      expect(await run("-s", "workspace-write", "--", "sh", "-c", script)).toMatchObject({ code: 0, stdout: "done\n" });
      expect([existsSync(join(base, "in")), existsSync(join(other, "out"))]).toEqual([true, false]);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  it("fits the ceiling of an executor", async () => {
    const flags = ["-s", "read-only", ...bounded("--max-sandbox", "read-only")];
    expect(await run(...flags, "--", "echo", "held")).toMatchObject({ code: 0, stdout: "held\n" });
  });

  it("is none where none is asked for", async () => {
    expect(await run("--", "touch", join(base, "x"))).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(join(base, "x"))).toBe(true);
  });
});
