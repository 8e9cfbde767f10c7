// Several people on one server: each has a process of its own as an account of its own, and neither sees nor reaches what the other has.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { codex, finish, useCommand } from "../support.js";
import { hasOpenssl, rotateCertificate } from "./credentials.js";

const ANNA = "games";
const BERT = "news";
const command = useCommand();

const idsOf = (account: string) => ({
  uid: Number(execFileSync("id", ["-u", account]).toString()),
  gid: Number(execFileSync("id", ["-g", account]).toString()),
});

/** Root, with accounts that can run this command. */
const canServe = (() => {
  try {
    if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
    for (const account of [ANNA, BERT]) {
      const words = ["--reuid", account, "--clear-groups", process.execPath, codex, "--version"];
      execFileSync("setpriv", words, { stdio: "ignore", env: { ...process.env, HOME: "/tmp" } });
    }
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!canServe)("a server for several people", () => {
  let base = "";
  let url = "";
  let front: ReturnType<typeof command.start>;
  let stderr = "";
  const path = (name: string) => join(base, name);
  const digest = (token: string) => createHash("sha256").update(token).digest("hex");
  const writeUsers = (lines: string) => writeFileSync(path("users.toml"), lines);
  const entry = (name: string, token: string, account: string) =>
    `[users.${name}]\ntoken_sha256 = "${digest(token)}"\naccount = "${account}"\ndirectory = "${path(name)}"\noptions = ["--metrics", "--resume-grace", "5"]\n`;
  const run = (who: string, ...words: string[]) =>
    finish(command.start(["run", "--executor", url, "--token-file", path(`${who}.token`), "--", ...words]));
  const sh = async (who: string, script: string) => {
    const { code, stdout, stderr: problem } = await run(who, "sh", "-c", script);
    return { code, text: `${stdout}${problem}`.trim() };
  };
  const sessions = (who: string, ...words: string[]) =>
    finish(command.start(["sessions", ...words, "--executor", url, "--token-file", path(`${who}.token`)]));

  /** What Anna has there while Bert tries to reach it. */
  const hers = { session: "", pid: "", server: "", socket: "" };

  beforeAll(async () => {
    base = mkdtempSync("/tmp/codex-users-test-");
    chmodSync(base, 0o755);
    for (const [name, account] of [
      ["anna", ANNA],
      ["bert", BERT],
    ] as const) {
      const { uid, gid } = idsOf(account);
      mkdirSync(path(name), { mode: 0o700 });
      chownSync(path(name), uid, gid);
      writeFileSync(path(`${name}.token`), `token-of-${name}`, { mode: 0o600 });
    }
    writeUsers(entry("anna", "token-of-anna", ANNA) + entry("bert", "token-of-bert", BERT));
    const { spawn } = await import("node:child_process");
    front = spawn(
      process.execPath,
      [codex, "executor", "--listen", "ws://127.0.0.1:0", "--users", path("users.toml"), "--log-level", "info"],
      {
        env: { ...process.env, SECRET_OF_ROOT: "very" },
      },
    );
    front.stderr.on("data", (bytes: Buffer) => {
      stderr += bytes.toString();
    });
    [url] = (await once(createInterface({ input: front.stdout }), "line")) as [string];
    writeFileSync(path("anna/diary"), "secret of anna", { mode: 0o600 });
    const { uid, gid } = idsOf(ANNA);
    chownSync(path("anna/diary"), uid, gid);
    const left = await finish(
      command.start([
        "run",
        "--executor",
        url,
        "--token-file",
        path("anna.token"),
        "--detach",
        "--tty",
        "--",
        "sh",
        "-c",
        "echo pid $$; SECRET=of-anna exec cat",
      ]),
    );
    hers.session = left.stdout.toString().trim();
    const read = await sessions("anna", "read", hers.session);
    [, hers.pid = ""] = /pid (\d+)/.exec(read.stdout.toString()) ?? [];
    [, hers.server = ""] = /"?user"?=anna.* pid=(\d+)/.exec(stderr) ?? [];
    const [directory = ""] = readdirSync("/tmp").filter(
      (name) => /^codex-users-(?!test)/.test(name) && readdirSync(`/tmp/${name}`).includes("anna"),
    );
    hers.socket = `/tmp/${directory}/anna/socket`;
    expect(hers.pid).not.toBe("");
    expect(hers.server).not.toBe("");
  });

  afterAll(async () => {
    front.kill("SIGTERM");
    if (front.exitCode === null) await once(front, "exit");
    rmSync(base, { recursive: true, force: true });
  });

  it("each is the account of its token, in its directory, with an environment of its own", async () => {
    const anna = await sh("anna", "id -un; pwd; echo $HOME; env");
    const bert = await sh("bert", "id -un; pwd; id -G");
    expect(anna.text).toMatch(new RegExp(`^${ANNA}\n${path("anna")}\n`));
    expect(anna.text).not.toContain("SECRET_OF_ROOT");
    expect(bert.text).toBe(`${BERT}\n${path("bert")}\n${idsOf(BERT).gid}`);
  });

  const ATTACKS: readonly [string, () => string, RegExp][] = [
    ["reads her file", () => `cat ${path("anna/diary")}`, /Permission denied/],
    ["lists her directory", () => `ls ${path("anna")}`, /Permission denied/],
    ["writes into her directory", () => `touch ${path("anna/x")}`, /Permission denied/],
    ["ends her program", () => `kill -9 ${hers.pid}`, /not permitted/i],
    ["interrupts her program", () => `kill -INT ${hers.pid}`, /not permitted/i],
    ["ends her server", () => `kill -9 ${hers.server}`, /not permitted/i],
    ["ends the server in front", () => `kill -9 ${front.pid}`, /not permitted/i],
    ["reads the variables of her program", () => `cat /proc/${hers.pid}/environ`, /Permission denied/],
    ["reads the memory of her server", () => `head -c 1 /proc/${hers.server}/mem`, /Permission denied/],
    ["reads the descriptors of her server", () => `ls -l /proc/${hers.server}/fd`, /Permission denied|cannot open/],
    ["reads the variables of the server in front", () => `cat /proc/${front.pid}/environ`, /Permission denied/],
    ["reads the file of users' tokens", () => `cat ${path("anna.token")}`, /Permission denied/],
    ["finds her socket", () => `ls ${hers.socket}`, /Permission denied/],
    ["lists the sockets", () => `ls ${join(hers.socket, "../..")}`, /Permission denied/],
    [
      "puts a socket of his own in place of hers",
      () => `ln -sf ${path("bert")} ${join(hers.socket, "../../anna2")}`,
      /Permission denied/,
    ],
    ["becomes her", () => `setpriv --reuid ${ANNA} --clear-groups id -un`, /not permitted/i],
    ["becomes root", () => "setpriv --reuid 0 id -un", /not permitted/i],
    ["writes to her terminal", () => `echo x > /proc/${hers.pid}/fd/0`, /Permission denied/],
  ];

  it.each(ATTACKS)("Bert %s: refused", async (_what, script, refusal) => {
    const { code, text } = await sh("bert", script());
    expect(text).toMatch(refusal);
    expect(code).not.toBe(0);
  });

  it("Bert connects to her socket: refused", async () => {
    const script = `require("net").connect(${JSON.stringify(hers.socket)}).on("error", (e) => { console.log(e.code); process.exit(3) }).on("connect", () => process.exit(0))`;
    expect(await run("bert", process.execPath, "-e", script)).toMatchObject({
      code: 3,
      stdout: Buffer.from("EACCES\n"),
    });
  });

  it("no server of a user has a descriptor of the one in front", () => {
    const socketsOf = (pid: string | number) =>
      readdirSync(`/proc/${pid}/fd`)
        .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
        .filter((link) => link.startsWith("socket:"));
    const own = socketsOf(String(front.pid));
    expect(own.length).toBeGreaterThan(0);
    expect(socketsOf(hers.server).filter((link) => own.includes(link))).toEqual([]);
  });

  it.each([
    ["read", ["read"]],
    ["kill", ["kill"]],
    ["attach", ["attach"]],
    ["record", ["record"]],
  ])("Bert asks to %s her session: there is none", async (_name, [verb = ""]) => {
    const asked = await sessions("bert", verb, hers.session);
    expect(asked.code).not.toBe(0);
    expect(`${asked.stdout}${asked.stderr}`).not.toContain("pid ");
    expect((await sessions("bert", "list")).stdout.toString()).not.toContain(`session ${hers.session}:`);
  });

  it("metrics are those of who asks, and of nobody without a token", async () => {
    const page = (token: string) =>
      fetch(`${url.replace("ws:", "http:")}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    const live = async (token: string) =>
      /codex_executor_sessions_live (\d+)/.exec(await (await page(token)).text())?.[1];
    expect(await live("token-of-anna")).toBe("1");
    expect(await live("token-of-bert")).toBe("0");
    expect((await page("TOKEN-OF-ANNA")).status).toBe(401);
    expect((await page("")).status).toBe(401);
  });

  it("two tokens in one request count as the first", async () => {
    const { port } = new URL(url);
    const wire = connect({ port: Number(port), host: "127.0.0.1" });
    const tokens = ["bert", "anna"].map((name) => `Authorization: Bearer token-of-${name}`).join("\r\n");
    wire.write(`GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n${tokens}\r\nConnection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of wire) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toContain("codex_executor_sessions_live 0");
  });

  it("her session was not touched by any of that", async () => {
    const listed = await sessions("anna", "list");
    expect(listed.stdout.toString()).toContain(`session ${hers.session}: running`);
    expect(readFileSync(path("anna/diary"), "utf8")).toBe("secret of anna");
  });

  it("a user who is taken out of the file is not served any more, and the other one stays", async () => {
    writeUsers(entry("bert", "token-of-bert", BERT));
    await expect.poll(async () => (await sh("anna", "true")).code, { timeout: 10_000, interval: 300 }).not.toBe(0);
    expect((await sh("bert", "id -un")).text).toBe(BERT);
    await expect.poll(() => stderr, { timeout: 10_000 }).toMatch(/has ended .*user=anna/);
  });
});

describe("--users", () => {
  it.skipIf(process.getuid?.() !== 0).each([
    ["", "there are no users|users: "],
    ['[users.a]\ntoken_sha256 = "x"\n', "users.a.token_sha256: expected 64 hexadecimal digits"],
    [
      `[users.a]\ntoken_sha256 = "${"0".repeat(64)}"\noptions = ["--listen=ws://0.0.0.0:1"]\n`,
      "--listen.* is given by this server",
    ],
    [
      `[users.a]\ntoken_sha256 = "${"0".repeat(64)}"\n[users.b]\ntoken_sha256 = "${"0".repeat(64)}"\n`,
      "users.b and users.a have the same token",
    ],
  ])("a file that says %j is refused", async (text, problem) => {
    const directory = mkdtempSync("/tmp/codex-users-file-");
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "users.toml");
    writeFileSync(file, text);
    const refused = await command.run(["executor", "--listen", "ws://127.0.0.1:0", "--users", file]);
    expect(refused.stderr).toMatch(new RegExp(problem));
    expect(refused.code).not.toBe(0);
  });
});

describe.skipIf(!canServe || !hasOpenssl)("a server for several people, with TLS", () => {
  it("knows somebody by the certificate whose key they have, and nobody by another one", async () => {
    const base = mkdtempSync("/tmp/codex-users-test-");
    onTestFinished(() => rmSync(base, { recursive: true }));
    chmodSync(base, 0o755);
    const directories = ["server", "anna", "bert"].map((name) => join(base, name));
    for (const directory of directories) {
      mkdirSync(directory);
      rotateCertificate(directory);
    }
    const [server = "", anna = "", bert = ""] = directories;
    const openssl = ["x509", "-in", join(anna, "cert"), "-noout", "-fingerprint", "-sha256"];
    const [, fingerprint = ""] = /=(\S+)/.exec(execFileSync("openssl", openssl).toString()) ?? [];
    const file = join(base, "users.toml");
    writeFileSync(
      file,
      `[users.anna]\ncertificate_sha256 = "${fingerprint}"\naccount = "${ANNA}"\ndirectory = "/tmp"\n`,
    );
    const tls = ["--tls-cert", join(server, "cert"), "--tls-key", join(server, "key")];
    const front = command.start(["executor", "--listen", "ws://127.0.0.1:0", "--users", file, ...tls]);
    const [url] = (await once(createInterface({ input: front.stdout }), "line")) as [string];
    const as = (directory: string) => {
      const own = ["--client-cert", join(directory, "cert"), "--client-key", join(directory, "key")];
      return command.run(["run", "--executor", url, "--ca-file", join(server, "cert"), ...own, "--", "id", "-un"]);
    };
    const known = await as(anna);
    expect([known.stderr, known.stdout.toString()]).toEqual(["", `${ANNA}\n`]);
    const unknown = await as(bert);
    expect(unknown.code).toBe(125);
    expect(unknown.stderr).toContain("is of anybody");
    const half = await command.run(["run", "--executor", url, "--client-cert", join(anna, "cert"), "--", "true"]);
    expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining("--client-cert also needs --client-key") });
    front.kill("SIGTERM");
    await once(front, "exit");
  });
});
