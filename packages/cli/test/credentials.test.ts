import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
      /--ca-file .*text holds no certificate/,
    ],
    [["executor", "--listen", "ws://127.0.0.1:0", "--tls-cert", "text"], /--tls-cert needs --tls-key/],
    [["executor", "--listen", "ws://127.0.0.1:0", "--tls-key", "text"], /--tls-key needs --tls-cert/],
    [["executor", "--tls-key", "text", "--tls-cert", "text"], /is for a listener; stdio needs none/],
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

  it("a certificate that is none is said before anything listens", async () => {
    const args = ["--listen", "ws://127.0.0.1:0", "--tls-cert", path("text"), "--tls-key", path("text")];
    for (const name of ["executor", "exec-server"]) {
      const { code, stderr, stdout } = await finishWith([name, ...args]);
      expect(stderr).toMatch(/the TLS certificate and key cannot be used/);
      expect(stdout.toString()).toBe("");
      expect(code).toBe(1);
    }
  });
});
