// What is given to operators: units, containers and man pages say nothing that this command does not do.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { useCommand } from "../support.js";

const command = useCommand();
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const units = join(root, "deploy/systemd");
const services = readdirSync(units).filter((name) => name.endsWith(".service"));

const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex-deploy-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The words of a command line that a file gives, by the name of the command. */
function commandLines(text: string): string[][] {
  const joined = text
    .replaceAll(/^ *#.*$/gm, "")
    .replaceAll(/\\\n\s*/g, " ")
    .replaceAll(/[",[\]]/g, " ");
  return joined
    .split("\n")
    .map((line) => line.split(/\s+/))
    .flatMap((words) => {
      const at = words.findIndex((word) => word === "executor" || word === "rendezvous" || word === "exec-server");
      return at === -1 || !words.some((word) => word.startsWith("--")) ? [] : [words.slice(at)];
    });
}

describe("deploy", () => {
  it.each([
    ...services.map((name) => join(units, name)),
    join(root, "deploy/container/compose.yaml"),
    join(root, "deploy/container/Containerfile"),
  ])("%s gives only options that exist", async (file) => {
    const lines = commandLines(readFileSync(file, "utf8"));
    for (const [name = "", ...words] of lines) {
      const help = (await command.run([name, "--help"])).stdout.toString();
      for (const option of words.filter((word) => /^--[a-z]/.test(word))) expect(help).toContain(option.split("=")[0]);
    }
  });

  it.skipIf(!has("systemd-analyze"))("the units are what systemd takes", () => {
    const directory = temporary();
    for (const name of readdirSync(units)) {
      const text = readFileSync(join(units, name), "utf8");
      // Neither is installed here.
      writeFileSync(
        join(directory, name),
        text.replaceAll("/usr/local/bin/codex-ts", "/bin/true").replaceAll(/^Documentation=.*\n/gm, ""),
      );
    }
    for (const name of readdirSync(directory)) {
      const said = execFileSync("sh", ["-c", `systemd-analyze verify ${join(directory, name)} 2>&1`]).toString();
      expect(said).toBe("");
    }
  });

  it("there is a man page for each command, which groff takes", () => {
    const directory = temporary();
    execFileSync(process.execPath, [join(root, "scripts/man.mjs"), directory]);
    const pages = readdirSync(directory);
    for (const name of ["codex", "codex-executor", "codex-rendezvous", "codex-sessions-attach", "codex-run"]) {
      expect(pages).toContain(`${name}.1`);
    }
    expect(readFileSync(join(directory, "codex-executor.1"), "utf8")).toContain("\\-\\-limit\\-memory");
    if (!has("groff")) return;
    const said = execFileSync("sh", ["-c", `groff -man -ww -z ${directory}/*.1 2>&1`]).toString();
    expect(said).toBe("");
  });
});

describe("codex doctor --service", () => {
  it("finds what is wrong with an installation", async () => {
    const directory = temporary();
    const unit = join(directory, "codex-executor.service");
    copyFileSync(join(units, "codex-executor.service"), unit);
    mkdirSync(join(directory, "etc"));
    const token = join(directory, "etc/token");
    writeFileSync(token, "secret", { mode: 0o644 });
    const text = readFileSync(unit, "utf8");
    writeFileSync(
      unit,
      text
        .replace("/etc/codex-ts/token", token)
        .replace("/usr/local/bin/codex-ts", process.execPath)
        .replace("TimeoutStopSec=60", "TimeoutStopSec=30"),
    );
    const bad = await command.run(["doctor", "--service", unit]);
    expect(bad.code).toBe(1);
    expect(bad.stdout.toString()).toMatch(/problem +--token-file +everybody on this host can read/);
    expect(bad.stdout.toString()).toMatch(/warning +unit +it lacks TimeoutStopSec=45 or more/);
    writeFileSync(
      unit,
      text
        .replace("/etc/codex-ts/token", token)
        .replace("/usr/local/bin/codex-ts", process.execPath)
        .replace("fd://", "ws://127.0.0.1:0"),
    );
    execFileSync("chmod", ["600", token]);
    const good = await command.run(["doctor", "--service", unit]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(good.stdout.toString()).toContain("0 warnings, 0 problems");
  });

  it("asks a service that runs, and says where it does not", async () => {
    const { url } = await command.listen();
    const unit = join(temporary(), "codex-executor.service");
    const text = readFileSync(join(units, "codex-executor.service"), "utf8");
    const at = (address: string) => {
      writeFileSync(
        unit,
        text
          .replace(" --token-file /etc/codex-ts/token", "")
          .replace("/usr/local/bin/codex-ts", process.execPath)
          .replace("fd://", address),
      );
      return command.run(["doctor", "--service", unit]);
    };
    expect((await at(url)).stdout.toString()).toContain("/readyz says 200");
    expect((await at("ws://127.0.0.1:1")).code).toBe(1);
    const none = await command.run(["doctor", "--service", "/nonexistent"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--service: ") });
  });
});
