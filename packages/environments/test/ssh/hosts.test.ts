// Unusual hosts: other login shells, startup files that print, no Node, a full disk.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findSmallDiskProblem, openSmallDisk } from "@codex/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServerBundle } from "../../../cli/src/server-bundle.js";
import { ENV, outputOf } from "../../../process-host/test/support.js";
import { createRemoteEnvironment, createSshLink, type Environment, type EnvironmentError } from "../../src/index.js";
import { findProgram, NO_SSHD, type Sshd, startSshd } from "./sshd.js";

const bundle = createServerBundle(fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url)));

function open(ssh: readonly [string, ...string[]], port?: number): Environment {
  const address = { host: "127.0.0.1", ...(port === undefined ? {} : { port }) };
  const link = createSshLink({ address, ssh, bundle, connectTimeoutMs: 10_000 });
  const environment = createRemoteEnvironment({ id: "remote", kind: "ssh", link, random: () => 0 });
  onTestFinished(() => environment.close());
  return environment;
}

async function expectToWork({ ssh, port }: Sshd): Promise<void> {
  for (let contact = 1; contact <= 2; contact += 1) {
    const { backend } = open(ssh, port);
    const spec = { argv: ["echo", "hi"], cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" } as const };
    expect(await outputOf(await backend.start(spec))).toBe("hi\n");
  }
}

async function fail(environment: Environment): Promise<{ code: string; reason: string }> {
  const error = await environment.connect().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "EnvironmentError" });
  const { code, reason } = error as EnvironmentError; // its name was checked
  return { code, reason };
}

describe.skipIf(NO_SSHD !== "")(`a host${NO_SSHD}`, { timeout: 60_000 }, () => {
  const shells = ["dash", "bash", "zsh", "fish", "busybox"].map((name) => {
    const path = findProgram(name);
    return { name: path === undefined ? `${name}: skipped, it is missing` : name, path };
  });
  for (const { name, path } of shells) {
    it.skipIf(path === undefined)(`may have another login shell: ${name}`, async () => {
      const shell = name === "busybox" ? `${path} sh` : path;
      await expectToWork(await startSshd({ settings: [`ForceCommand exec ${shell} -c "$SSH_ORIGINAL_COMMAND"`] }));
    });
  }

  it("may print a banner, and much output of startup files on both streams", async () => {
    const sshd = await startSshd({
      settings: [
        'ForceCommand echo welcome >&2; yes \'{"id":1} status\' | head -c 200000; exec sh -c "$SSH_ORIGINAL_COMMAND"',
        "Banner /etc/passwd",
      ],
    });
    await expectToWork(sshd);
  });

  it("is rejected if its startup files print endlessly", async () => {
    const { ssh, port } = await startSshd({ settings: ["ForceCommand yes"] });
    expect(await fail(open(ssh, port))).toEqual({
      code: "handshake_failed",
      reason: "ssh to 127.0.0.1: the shell printed more than 262144 bytes before the command ran".replace(
        "127.0.0.1",
        `127.0.0.1:${port}`,
      ),
    });
  });

  it("is named in the error if its account may not run commands", async () => {
    const { ssh, port } = await startSshd({ settings: ["ForceCommand echo 'This account is not available.'; exit 1"] });
    const { code, reason } = await fail(open(ssh, port));
    expect(code).toBe("program_failed");
    expect(reason).toContain("This account is not available.");
  });

  it("fails with advice if its cache cannot be written", async () => {
    const { ssh, port, directory } = await startSshd({ env: { XDG_CACHE_HOME: "/dev/null/cache" } });
    const { code, reason } = await fail(open(ssh, port));
    expect(code).toBe("program_failed");
    expect(reason).toMatch(/could not be installed on .*: .*\/dev\/null\/cache.*; set XDG_CACHE_HOME there/);
    expect(readdirSync(join(directory, "run"))).toEqual([]);
  });

  const asRoot = process.getuid?.() === 0 ? ": skipped, root may write everywhere" : "";
  it.skipIf(asRoot !== "")(`may have a home that cannot be written${asRoot}`, async () => {
    const home = mkdtempSync(join(tmpdir(), "read-only-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    chmodSync(home, 0o500);
    const { ssh, port } = await startSshd({ env: { XDG_CACHE_HOME: join(home, ".cache") } });
    expect((await fail(open(ssh, port))).reason).toMatch(/EACCES.*; set XDG_CACHE_HOME there/);
  });

  const noDisk = findSmallDiskProblem();
  it.skipIf(noDisk !== undefined)(`may be full${noDisk === undefined ? "" : `: skipped, ${noDisk}`}`, async () => {
    const disk = await openSmallDisk(256 * 1024);
    onTestFinished(() => disk.close());
    const { ssh, port } = await startSshd({ env: { XDG_CACHE_HOME: disk.path } });
    expect((await fail(open(ssh, port))).reason).toMatch(/could not be installed on .*: its disk is full/);
    expect(readdirSync(join(disk.path, "codex-ts"))).toEqual([]);
  });
});

/** A fake ssh without a host: its program gets the script with the mark on its stdin. */
function createFakeSsh(then: string): readonly [string, ...string[]] {
  const script = `mark=$(sed -n "s/.*'\\(codex-ts-[0-9a-f]*\\)'.*/\\1/p;/^m$/q" | head -n 1); ${then}`;
  return ["/bin/sh", "-c", script, "ssh"];
}

describe("the remote side of an ssh", () => {
  it.each([
    [
      "has no Node",
      `printf '\\n%s nonode \\n' "$mark"; exit 92`,
      "unsupported",
      /has no Node 20\.19 or newer.*looked in PATH/,
    ],
    [
      "has one that is too old",
      `printf '\\n%s nonode  /usr/bin/node (18.1.0)\\n' "$mark"; exit 92`,
      "unsupported",
      /has no Node 20\.19 or newer.*too old: \/usr\/bin\/node \(18\.1\.0\)$/,
    ],
    [
      "says what nobody understands",
      `printf '\\n%s what {\\n' "$mark"; exit 3`,
      "program_failed",
      /ssh exited with code 3/,
    ],
    [
      "describes itself without sense",
      `printf '\\n%s missing []\\n' "$mark"; head -c 1000 >/dev/null; exit 0`,
      "program_failed",
      /ssh exited with code 0/,
    ],
    ["ends before it says anything", "exit 255", "unreachable", /ssh exited with code 255 without a message/],
    [
      "ends in the middle of a line",
      `printf '\\n%s rea' "$mark"; exit 1`,
      "program_failed",
      /: codex-ts-[0-9a-f]+ rea$/,
    ],
    [
      "is no exec-server",
      `printf '\\n%s ready\\n<html>\\n' "$mark"; sleep 1`,
      "handshake_failed",
      /neither an exec-server nor an executor: it printed 6 bytes of text, and no message/,
    ],
    [
      "closes its output at once",
      `printf '\\n%s ready\\n' "$mark"; exit 0`,
      "program_failed",
      /the connection was lost/,
    ],
  ])("%s", async (_name, then, code, reason) => {
    const failure = await fail(open(createFakeSsh(then)));
    expect(failure.reason).toMatch(reason);
    expect(failure.code).toBe(code);
  });
});
