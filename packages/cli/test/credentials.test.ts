import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finish, useCommand } from "./support.js";

const TOKEN = "token-of-this-test";
let base: string;
const path = (name: string) => join(base, name);
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "codex credentials-"));
  writeFileSync(path("token"), `${TOKEN}\n`);
  writeFileSync(path("empty"), " \n");
  writeFileSync(path("text"), "no certificate");
});
afterAll(() => rmSync(base, { recursive: true }));

describe("credentials of an executor", () => {
  const command = useCommand();
  const finishWith = (args: readonly string[], env: Record<string, string> = {}) => {
    const child = command.start(args, env);
    child.stdin.end();
    return finish(child);
  };

  it.each([
    ["run", ["--", "echo", "ran"], "ran\n"],
    ["tools list", [], /exec_command/],
    ["tools spec", ["exec_command"], /"cmd"/],
    ["tools call", ["list_sessions", "{}"], /./],
    ["sessions", [], /./],
  ] as const)("%s sends the token of a file or the environment", async (name, rest, expected) => {
    const { url } = await command.listen(["--token-file", path("token")]);
    const args = [...name.split(" "), "--executor", url];
    const fromFile = await finishWith([...args, "--token-file", path("token"), ...rest]);
    expect(fromFile).toMatchObject({ code: 0 });
    expect(fromFile.stdout.toString()).toMatch(expected);
    const fromEnv = await finishWith([...args, ...rest], { CODEX_EXECUTOR_TOKEN: TOKEN });
    expect(fromEnv).toMatchObject({ code: 0 });
    const without = await finishWith([...args, ...rest]);
    expect(without.code).not.toBe(0);
    expect(without.stderr).toMatch(/a bearer token is needed; give it with --token-file\n$/);
    const wrong = await finishWith([...args, ...rest], { CODEX_EXECUTOR_TOKEN: "wrong" });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toMatch(/the bearer token is wrong/);
    for (const { stderr, stdout } of [without, wrong]) expect(`${stdout}${stderr}`).not.toContain(TOKEN);
  });

  it("are not sent to another machine in the clear", async () => {
    const { stderr, code } = await finishWith(["tools", "list", "--executor", "ws://192.0.2.1:7000"], {
      CODEX_EXECUTOR_TOKEN: TOKEN,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/would travel unencrypted over ws:/);
    expect(stderr).not.toContain(TOKEN);
  });

  it.each([
    [
      ["run", "--executor", "ws://127.0.0.1:1", "--token-file", "none", "--", "true"],
      /--token-file cannot be read: .*none/,
    ],
    [
      ["run", "--executor", "ws://127.0.0.1:1", "--token-file", "empty", "--", "true"],
      /the token file .*empty is empty/,
    ],
    [["tools", "list", "--executor", "wss://127.0.0.1:1", "--ca-file", "none"], /--ca-file cannot be read: .*none/],
    [
      ["tools", "list", "--executor", "wss://127.0.0.1:1", "--ca-file", "text"],
      /--ca-file .*text contains no certificate/,
    ],
    [["executor", "--listen", "ws://127.0.0.1:0", "--tls-cert", "text"], /--tls-cert also needs --tls-key/],
    [["executor", "--listen", "ws://127.0.0.1:0", "--tls-key", "text"], /--tls-key also needs --tls-cert/],
    [["executor", "--tls-key", "text", "--tls-cert", "text"], /is for a listener; stdio does not use it/],
    [
      ["executor", "--listen", "unix:///tmp/never", "--tls-key", "text", "--tls-cert", "text"],
      /a unix socket does not leave/,
    ],
  ])("%j is refused", async (args, message) => {
    const placed = args.map((arg) => (/^(none|empty|text)$/.test(arg) ? path(arg) : arg));
    const { code, stderr } = await finishWith(placed);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });

  describe("a certificate and key that a listener cannot use", () => {
    const openssl = (args: string) => execFileSync("openssl", args.split(" "), { cwd: base, stdio: "ignore" });
    beforeAll(() => {
      openssl("req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost");
      openssl("genrsa -out other 2048");
      openssl("rsa -aes128 -passout pass:secret -in key -out locked");
      writeFileSync(path("broken"), readFileSync(path("key"), "utf8").replaceAll(/\n[\w+/]{40}/g, "\nx"));
    });

    it.each([
      ["key", "cert", /--tls-cert \S*key contains a private key and --tls-key \S*cert a certificate: they are swapped/],
      ["text", "text", /--tls-cert \S*text contains no certificate in PEM form\n/],
      ["key", "key", /--tls-cert \S*key contains no certificate in PEM form, but a private key/],
      ["cert", "cert", /--tls-key \S*cert contains no private key in PEM form, but a certificate/],
      ["cert", "other", /--tls-key \S*other is not the key of the certificate in --tls-cert \S*cert,/],
      ["cert", "locked", /the private key in --tls-key \S*locked is encrypted; give one without a passphrase/],
      ["cert", "broken", /the private key in --tls-key \S*broken cannot be read/],
    ])("%s with %s: it is said before anything listens, and which file it is", async (cert, key, message) => {
      const args = ["--listen", "ws://127.0.0.1:0", "--tls-cert", path(cert), "--tls-key", path(key)];
      for (const name of ["executor", "exec-server"]) {
        const { code, stderr, stdout } = await finishWith([name, ...args]);
        expect(stderr.replaceAll(base, "DIRECTORY")).toMatch(message);
        expect(stdout.toString()).toBe("");
        expect(code).toBe(2);
      }
    });
  });

  it.each([
    ["wss://127.0.0.1:0", "; a listener speaks TLS on ws:// with --tls-cert and --tls-key"],
    ["7000", "; did you mean ws://127.0.0.1:7000?"],
    [":7000", "; did you mean ws://127.0.0.1:7000?"],
    ["build.local:7000", "; did you mean ws://build.local:7000?"],
    ["http://[::1]:7000/", "; did you mean ws://[::1]:7000?"],
    ["/run/codex.sock", "; did you mean unix:///run/codex.sock?"],
    ["localhost", ""],
  ])("says what a listener may have been meant to be: %s", async (url, hint) => {
    const { code, stderr } = await finishWith(["executor", "--listen", url]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is not an address; .* from 0 to 65535/)]);
    expect(stderr.trimEnd().endsWith(`65535${hint}`)).toBe(true);
  });
});
