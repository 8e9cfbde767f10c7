import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { INSTALLER } from "../../src/ssh/installer.js";
import { createScript } from "../../src/ssh/script.js";
import { listDigests, packBundle, type ServerBundle } from "../../src/ssh/server-bundle.js";
import { readStatus, type StatusLine } from "../../src/ssh/status-line.js";

const MARK = "codex-ts-mark";

interface FarShell {
  child: ChildProcessWithoutNullStreams;
  /** Its exit code and signal. */
  exited: Promise<unknown[]>;
  /** Where servers are installed. */
  above: string;
  next(): Promise<StatusLine | undefined>;
}

function createHome(): string {
  const home = mkdtempSync(join(tmpdir(), "remote-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** A shell with the script on its stdin, whose PATH has only `programs`: text of a script each. */
function startShell(
  programs: Readonly<Record<string, string>>,
  places: readonly string[] = [],
  { shell = "sh", digests = [], home = createHome() }: { shell?: string; digests?: string[]; home?: string } = {},
): FarShell {
  mkdirSync(join(home, "bin"), { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(home, "bin", name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(home, "bin", name), 0o755);
  }
  const env = { HOME: home, PATH: `${join(home, "bin")}:/nonexistent`, SHELL: "/bin/false" };
  const child = spawn(`/bin/${shell}`, [], { env, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  child.stdin.on("error", () => {});
  child.stderr.resume();
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.write(createScript("1.0-abc", MARK, digests, places));
  const { signal } = new AbortController();
  const next = () => readStatus(child.stdout, { mark: MARK, signal, timeoutMs: 20_000 });
  return { child, exited, above: join(home, ".cache", "codex-ts"), next };
}

const NODE = { node: `exec '${process.execPath}' "$@"` };
const OLD = { node: `case $1 in -p) echo 18.1.0 ;; *) exit 1 ;; esac` };

const bundleOf = (text: string) => packBundle([{ path: "codex.js", bytes: Buffer.from(text) }]);

it("reports a missing or too old Node", async () => {
  expect(await startShell({}).next()).toEqual({ word: "nonode", text: "" });
  const old = startShell(OLD);
  expect((await old.next())?.text).toMatch(/^ \/.*\/bin\/node \(18\.1\.0\)$/);
  expect(await old.exited).toEqual([92, null]);
});

it("finds a Node outside PATH, also after an old one", async () => {
  const { next } = startShell(OLD, [`"$HOME"/nothing/*/node`, `'${process.execPath}'`]);
  expect((await next())?.word).toBe("missing");
});

it.each(["sh", "bash"])("installs what it receives, and passes on what follows (%s)", async (shell) => {
  const { child, next, above } = startShell(NODE, [], { shell });
  const status = await next();
  expect(JSON.parse(status!.text)).toMatchObject({ platform: process.platform, arch: process.arch });
  const { head, body } = await bundleOf("process.stdin.pipe(process.stdout); process.stderr.write(process.argv[2]);");
  child.stdin.write(Buffer.concat([Buffer.from(head), body, Buffer.from("first bytes, ")]));
  expect(await next()).toEqual({ word: "installed", text: "{}" });
  child.stdin.end("last bytes");
  let rest = "";
  for await (const chunk of child.stdout) rest += chunk;
  expect(rest).toBe("first bytes, last bytes");
  expect(readdirSync(above)).toEqual(["1.0-abc"]);
});

it.each<[string, (server: string, home: string) => void]>([
  ["was changed", (server) => writeFileSync(join(server, "codex.js"), "process.stdout.write('planted')")],
  ["has one more file", (server) => writeFileSync(join(server, "more.js"), "")],
  ["lacks a file", (server) => rmSync(join(server, "codex.js"))],
  [
    "has a link in place of a file",
    (server, home) => {
      renameSync(join(server, "codex.js"), join(home, "elsewhere.js"));
      symlinkSync(join(home, "elsewhere.js"), join(server, "codex.js"));
    },
  ],
  [
    "is a link",
    (server, home) => {
      renameSync(server, join(home, "elsewhere"));
      symlinkSync(join(home, "elsewhere"), server);
    },
  ],
  ["may be written by others", (server) => chmodSync(server, 0o777)],
])("does not run a server that %s, but replaces it", async (_name, change) => {
  const files = [{ path: "codex.js", bytes: Buffer.from("process.stdout.write('ours\\n'); process.exit(0)") }];
  const bundle: ServerBundle = { id: "1.0-abc", targets: [], listFiles: async () => ({ files }) };
  const given = { digests: await listDigests(bundle), home: createHome() };
  const { head, body } = await packBundle(files);
  const connect = async () => {
    const { child, next, exited } = startShell(NODE, [], given);
    const words = [];
    for (let status = await next(); status !== undefined; status = await next()) {
      words.push(status.word);
      if (status.word === "missing") child.stdin.write(Buffer.concat([Buffer.from(head), body]));
      else break;
    }
    let output = "";
    for await (const chunk of child.stdout) output += chunk;
    await exited;
    return [...words, output];
  };
  expect(await connect()).toEqual(["missing", "installed", "ours\n"]);
  expect(await connect()).toEqual(["ready", "ours\n"]);
  change(join(given.home, ".cache", "codex-ts", "1.0-abc"), given.home);
  expect(await connect()).toEqual(["missing", "installed", "ours\n"]);
  expect(await connect()).toEqual(["ready", "ours\n"]);
});

it("runs no program and follows no link that a file of the cache names", async () => {
  const home = createHome();
  const server = join(home, ".cache", "codex-ts", "1.0-abc");
  mkdirSync(server, { recursive: true, mode: 0o700 });
  writeFileSync(join(server, "codex.js"), "process.exit(0)");
  writeFileSync(join(server, "node"), `${join(home, "planted")}\n`);
  writeFileSync(join(home, "planted"), `#!/bin/sh\ntouch '${home}/ran'\n`, { mode: 0o755 });
  writeFileSync(join(home, "mine"), "mine");
  symlinkSync(join(home, "mine"), join(server, "used"));
  const { next } = startShell(NODE, [], { home });
  expect((await next())?.word).toBe("missing");
  expect([existsSync(join(home, "ran")), readFileSync(join(home, "mine"), "utf8")]).toEqual([false, "mine"]);
});

it.each([
  [
    "something else than was announced",
    (body: Buffer) => body.fill(7, 20, 40),
    /^the checksum of what arrived is wrong/,
  ],
  ["less than was announced", (body: Buffer) => body.subarray(0, 50), /^the connection ended after 50 of \d+ bytes$/],
])("installs nothing from %s", async (_name, damage, reason) => {
  const { child, exited, next, above } = startShell(NODE);
  await next();
  const { head, body } = await bundleOf("process.exit(0)".padEnd(500, "0123456789abcdefghijklmnopq"));
  child.stdin.end(Buffer.concat([Buffer.from(head), damage(body)]));
  const status = await next();
  expect(status?.word).toBe("failed");
  expect((JSON.parse(status!.text) as { reason: string }).reason).toMatch(reason);
  expect(await exited).toEqual([93, null]);
  expect(existsSync(above) ? readdirSync(above) : []).toEqual([]);
});

it("rejects a bundle that is too large before it is sent", async () => {
  const { child, next } = startShell(NODE);
  await next();
  child.stdin.write(`${JSON.stringify({ bytes: 2 ** 30, sha256: createHash("sha256").digest("hex") })}\n`);
  expect((await next())?.text).toContain("a bundle of 1073741824 bytes");
});

it("can be written between single quotes", () => {
  expect(INSTALLER).not.toContain("'");
});
