import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServerBundle } from "../../../cli/src/server-bundle.js";
import { ENV, outputOf, untilGone } from "../../../process-host/test/support.js";
import {
  createRemoteEnvironment,
  createSshLink,
  type Environment,
  type ServerBundle,
  type SshLinkOptions,
} from "../../src/index.js";
import { hostTools } from "../support.js";
import { NO_SSHD, type Sshd, startSshd } from "./sshd.js";

const bundle = createServerBundle(fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url)));
const PIPE = { kind: "pipe", stdin: "null" } as const;
const TERMINAL = { kind: "pty", size: { rows: 24, cols: 80 } } as const;

function open({ port, ssh }: Sshd, options: Partial<SshLinkOptions> & { cwd?: string } = {}): Environment {
  const link = createSshLink({ address: { host: "127.0.0.1", port }, ssh, bundle, ...options });
  const environment = createRemoteEnvironment({ id: "remote", kind: "ssh", link, hostTools, cwd: options.cwd });
  onTestFinished(() => environment.close());
  return environment;
}

/** Kills the ssh of an environment without notice, as a network failure would. */
function cut(sshd: Sshd): void {
  for (const pid of sshd.listClients()) process.kill(pid, "SIGKILL");
}

describe.skipIf(NO_SSHD !== "")(`an environment behind ssh${NO_SSHD}`, { timeout: 120_000 }, () => {
  it("gets its server installed once, completely and for this user alone", async () => {
    const sshd = await startSshd();
    const told: string[] = [];
    const first = open(sshd, { onProgress: (what) => told.push(what) });
    const process = await first.backend.start({ argv: ["echo", "hi"], cwd: "/", env: ENV, stdio: PIPE });
    expect(await outputOf(process)).toBe("hi\n");
    expect(told).toEqual([
      expect.stringMatching(/^installing the server on 127\.0\.0\.1:\d+, which has none of this version: \d+ KiB$/),
      expect.stringMatching(/^the server is installed on 127\.0\.0\.1:\d+$/),
    ]);
    const above = join(sshd.cache, "codex-ts");
    expect(readdirSync(above)).toEqual([bundle.id]);
    expect([above, join(above, bundle.id)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(statSync(join(above, bundle.id, "codex.js")).mode & 0o777).toBe(0o600);

    const second = open(sshd, { onProgress: (what) => told.push(what) });
    await second.connect();
    expect(told).toHaveLength(2);
  });

  it("has terminals, files, and the directory of its address", async () => {
    const sshd = await startSshd();
    const environment = open(sshd, { cwd: "/tmp" });
    const process = await environment.backend.start({ argv: ["tty"], cwd: "/", env: ENV, stdio: TERMINAL });
    expect(await outputOf(process)).toMatch(/^\/dev\/(pts|tty)/);
    expect((await environment.files.getMetadata("/tmp")).isDirectory).toBe(true);
    expect(await environment.info()).toMatchObject({ os: globalThis.process.platform, cwd: "/tmp" });
    const { home } = await environment.info();
    expect((await open(sshd, { cwd: "~/x" }).info()).cwd).toBe(`${home === "/" ? "" : home}/x`);
    expect(environment.serves).toBe("exec-server");
  });

  it("runs programs on pipes if there is no native code for it", async () => {
    const told: string[] = [];
    const target = { platform: "aix", arch: "ppc64", libc: "other" } as const;
    const bare: ServerBundle = { id: "bare", targets: [], listFiles: () => bundle.listFiles(target) };
    const environment = open(await startSshd(), { bundle: bare, onProgress: (what) => told.push(what) });
    const spec = { cwd: "/", env: ENV };
    const script = "head -c 3000000 /dev/zero | tr '\\0' a; exit 3";
    const program = await environment.backend.start({ ...spec, argv: ["sh", "-c", script], stdio: PIPE });
    expect((await outputOf(program)).length).toBe(3_000_000);
    expect(await program.exited).toEqual({ kind: "exited", code: 3 });
    const argv = ["sh", "-c", "sleep 100 & echo $!; wait"];
    const sleeping = await environment.backend.start({ ...spec, argv, stdio: PIPE });
    await sleeping.log.waitFor(0);
    expect(await sleeping.terminate()).toMatchObject({ gone: true });
    expect(await untilGone(Number(await outputOf(sleeping)))).toBe(true);
    const onTerminal = environment.backend.start({ ...spec, argv: ["tty"], stdio: TERMINAL });
    await expect(onTerminal).rejects.toThrow("no terminal could be opened");
    expect(await environment.files.readDirectory("/")).not.toEqual([]);
    const lacks = "there is no native code for aix-ppc64 here: programs run on pipes only there, without a terminal";
    expect(told).toContain(lacks);
  });

  it("loses and repeats no byte while its ssh is killed", async () => {
    const sshd = await startSshd();
    const environment = open(sshd);
    await environment.connect();
    // 100 MB, in numbered lines.
    const lines = 5_000_000;
    const argv = ["sh", "-c", `seq -f %019.0f ${lines}; exit 7`];
    const counter = await environment.backend.start({ argv, cwd: "/", env: ENV, stdio: PIPE });
    const hash = createHash("sha256");
    let bytes = 0;
    let cuts = 0;
    for await (const chunk of counter.log.follow()) {
      hash.update(chunk.bytes);
      bytes += chunk.bytes.length;
      if (cuts < 3 && bytes > (cuts + 1) * 20_000_000 && environment.state.status === "ready") {
        cuts += 1;
        cut(sshd);
        await expect.poll(() => environment.state.status).not.toBe("ready");
      }
    }
    const expected = createHash("sha256");
    for (let line = 1; line <= lines; line += 1) expected.update(`${String(line).padStart(19, "0")}\n`);
    expect([bytes, cuts]).toEqual([lines * 20, 3]);
    expect(hash.digest("hex")).toBe(expected.digest("hex"));
    expect(await counter.exited).toEqual({ kind: "exited", code: 7 });
  });

  it("keeps a program with its terminal and what was typed while its ssh is killed", async () => {
    const sshd = await startSshd();
    const environment = open(sshd);
    const argv = ["sh", "-c", 'stty -echo; n=0; echo ready; while read -r line; do n=$((n+1)); echo "$n:$line"; done'];
    const program = await environment.backend.start({ argv, cwd: "/", env: ENV, stdio: TERMINAL });
    const read = async () => {
      const { chunks } = await program.log.read(0);
      return Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString();
    };
    await expect.poll(read).toContain("ready");
    for (const line of ["one", "two", "three"]) {
      cut(sshd);
      await program.write(Buffer.from(`${line}\r`));
      await expect.poll(read, { timeout: 30_000 }).toContain(line);
    }
    expect((await read()).match(/\d:\w+/g)).toEqual(["1:one", "2:two", "3:three"]);
    expect(program.outcome.kind).toBe("running");
  });

  it("installs one server for two that come at once, and again where it is damaged", async () => {
    const sshd = await startSshd();
    await Promise.all([open(sshd).connect(), open(sshd).connect()]);
    const above = join(sshd.cache, "codex-ts");
    expect(readdirSync(above)).toEqual([bundle.id]);
    rmSync(join(above, bundle.id, "codex.js"));
    await open(sshd).connect();
    expect(existsSync(join(above, bundle.id, "codex.js"))).toBe(true);
  });

  it("ignores output of the startup files of its shell", async () => {
    const sshd = await startSshd();
    const noisy = join(sshd.directory, "noisy");
    writeFileSync(noisy, `#!/bin/sh\necho '{"id":1} welcome'; printf 'no line feed'; exec "$@"\n`);
    chmodSync(noisy, 0o755);
    const [ssh, ...options] = sshd.ssh;
    await open({ ...sshd, ssh: [noisy, ssh, ...options] }).connect();
  });

  it("gets none of this host's secrets", async () => {
    const sshd = await startSshd({ settings: ["AcceptEnv *"] });
    const [ssh, ...options] = sshd.ssh;
    const hostEnv = { ...process.env, OPENAI_API_KEY: "sk-of-the-host", OTHER: "sent" };
    const environment = open({ ...sshd, ssh: [ssh, ...options, "-o", "SendEnv=OPENAI_API_KEY OTHER"] }, { hostEnv });
    const envPolicy = { inherit: "all", ignoreDefaultExcludes: true, set: {} } as const;
    const spec = {
      argv: ["env"],
      cwd: "/",
      env: {},
      stdio: PIPE,
      envPolicy: { ...envPolicy, exclude: [], includeOnly: [] },
    };
    const shown = await outputOf(await environment.backend.start(spec));
    expect(shown).toContain("OTHER=sent");
    expect(shown).not.toMatch(/sk-of-the-host|OPENAI|SSH_CONNECTION/);
  });
});

describe.skipIf(NO_SSHD !== "")(`a host that cannot be used${NO_SSHD}`, { timeout: 60_000 }, () => {
  const fail = async (sshd: Sshd, options: Partial<SshLinkOptions> = {}) => {
    const environment = open(sshd, options);
    const error: unknown = await environment.connect().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    await expect.poll(() => sshd.listClients()).toEqual([]);
    return { code: (error as { code: string }).code, reason: environment.state.reason };
  };

  it("has an unknown key, or another one than before", async () => {
    const sshd = await startSshd();
    const { port } = sshd;
    writeFileSync(join(sshd.directory, "known_hosts"), "");
    const unknown = await fail(sshd);
    expect(unknown.code).toBe("unauthorized");
    expect(unknown.reason).toContain(`its key is not known yet: run \`ssh -p ${port} 127.0.0.1\` in a terminal once`);
    const user = join(sshd.directory, "user.pub");
    const [type, key] = readFileSync(user, "utf8").split(" ");
    writeFileSync(join(sshd.directory, "known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`);
    const changed = await fail(sshd);
    expect(changed.reason).toContain("its key has changed");
  });

  it("lets nobody in", async () => {
    const sshd = await startSshd();
    writeFileSync(join(sshd.directory, "user.pub"), "");
    const { code, reason } = await fail(sshd);
    expect(code).toBe("unauthorized");
    expect(reason).toMatch(/Permission denied.*no key was accepted: see `ssh-add -l`/);
  });

  it("is not there, or has no name", async () => {
    const sshd = await startSshd();
    expect(await fail(sshd, { address: { host: "127.0.0.1", port: 1 } })).toMatchObject({
      code: "unreachable",
      reason: expect.stringContaining("no ssh server listens there"),
    });
    expect((await fail(sshd, { address: { host: "no-such-host.invalid" } })).code).toBe("unreachable");
    expect(await fail(sshd, { ssh: ["/nonexistent/ssh"] })).toMatchObject({
      code: "program_failed",
      reason: "`/nonexistent/ssh` could not be started: there is no such program",
    });
  });

  it("received something else than what was sent", async () => {
    const sshd = await startSshd();
    const damaged: ServerBundle = {
      id: "damaged",
      targets: [],
      listFiles: async () => ({ files: [{ path: "codex.js", bytes: Buffer.from("process.exit(5)") }] }),
    };
    expect(await fail(sshd, { bundle: damaged })).toMatchObject({ code: "program_failed" });
    const none: ServerBundle = {
      id: "none",
      targets: [],
      listFiles: async () => Promise.reject(new Error("nothing for it here")),
    };
    expect((await fail(sshd, { bundle: none })).reason).toContain("nothing for it here");
    expect(readdirSync(join(sshd.cache, "codex-ts"))).toEqual(["damaged"]);
  });

  it("has a cache that others may write", async () => {
    const sshd = await startSshd();
    mkdirSync(join(sshd.cache, "codex-ts"));
    chmodSync(join(sshd.cache, "codex-ts"), 0o777);
    const { reason } = await fail(sshd);
    expect(reason).toContain("is not a directory that only you may write");
    rmSync(join(sshd.cache, "codex-ts"), { recursive: true });
    symlinkSync(sshd.directory, join(sshd.cache, "codex-ts"));
    expect((await fail(sshd)).reason).toContain("is not a directory that only you may write");
  });
});
