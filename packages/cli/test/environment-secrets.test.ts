// Secrets of the host of a command, and those of its environments: looked for wherever they could show.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { NO_SSHD, startSshd } from "../../environments/test/ssh/sshd.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();

/** Each is found only where it was put. */
const mark = (name: string) => `${name}-${randomBytes(6).toString("hex")}`;
const HOST = { OPENAI_API_KEY: mark("key"), GH_TOKEN: mark("token") };
const HOST_UNNAMED = { PGPASSWORD: mark("password"), DATABASE_URL: `postgres://me:${mark("database")}@h/` };
const OWN = {
  bearer: mark("bearer"),
  user: mark("user"),
  query: mark("query"),
  variable: mark("variable"),
  arg: mark("arg"),
};
const ALL = [
  ...Object.values(HOST),
  HOST_UNNAMED.PGPASSWORD,
  HOST_UNNAMED.DATABASE_URL.slice(14, -3),
  ...Object.values(OWN),
];

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "codex-home-"));
  return () => rmSync(home, { recursive: true, force: true });
});
const env = () => ({ ...HOST, ...HOST_UNNAMED, CODEX_HOME: home });

const table = (id: string, lines: readonly string[]) => `[[environments]]\nid = "${id}"\n${lines.join("\n")}\n`;
const words = (args: readonly string[]) => `[${args.map((arg) => JSON.stringify(arg)).join(", ")}]`;

/** Processes on whose command line, or in whose environment, one of the texts is. */
function findInProcesses(texts: readonly string[]): string[] {
  return readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .flatMap((pid) => {
      try {
        const [line, variables] = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${pid}/${file}`, "latin1"));
        return texts
          .filter((text) => `${line}${variables}`.includes(text))
          .map((text) => `${text}: ${pid} ${line?.slice(0, 200)}`);
      } catch {
        return []; // it has ended, or belongs to somebody else
      }
    });
}

const expectNone = (text: string) => {
  for (const secret of ALL) expect(text).not.toContain(secret);
};

/** Runs a program that waits, looks, and lets it end. Returns everything that came out. */
async function look(
  args: readonly string[],
  variables: Record<string, string>,
  searched: readonly string[],
  pid: boolean,
) {
  const child = command.start([...args, "--", "sh", "-c", "env; echo waiting; read -r line; exit 4"], variables);
  const finished = finish(child);
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => {
    output += bytes.toString();
  });
  await expect.poll(() => output, { timeout: 30_000 }).toContain("waiting");
  // The command itself got them from whoever has started it.
  expect(findInProcesses(searched).filter((found) => !pid || !found.includes(`: ${child.pid} `))).toEqual([]);
  child.stdin.end("go\n");
  const { code, stdout, stderr } = await finished;
  expect(code).toBe(4);
  return `${stdout}${stderr}`;
}

const isLinux = process.platform === "linux";
const onlyLinux = isLinux ? "" : ": skipped, /proc is that of Linux";

describe("secrets", { timeout: 60_000 }, () => {
  it.skipIf(!isLinux)(
    `are neither in ps nor in the environment of a program on stdio and what it runs${onlyLinux}`,
    async () => {
      const program = ["exec-server", "--listen", "stdio"];
      const variables = `env = { MY_TOKEN = "${OWN.variable}" }`;
      writeFileSync(
        join(home, "environments.toml"),
        table("box", [`program = "${process.execPath}"`, `args = ${words([codex, ...program])}`, variables]),
      );
      const host = [...Object.values(HOST), OWN.variable];
      expectNone(await look(["run", "--environment", "box"], env(), host, false));
      const unnamed = [HOST_UNNAMED.PGPASSWORD, HOST_UNNAMED.DATABASE_URL];
      expectNone(await look(["run", "--environment", "box"], env(), unnamed, true));
    },
  );

  it.skipIf(!isLinux || NO_SSHD !== "")(
    `are neither in ps nor on the host behind ssh${onlyLinux || NO_SSHD}`,
    async () => {
      const { ssh, port } = await startSshd({ settings: ["AcceptEnv *"] });
      const bin = join(home, "bin");
      if (!existsSync(bin)) mkdirSync(bin);
      writeFileSync(
        join(bin, "ssh"),
        `#!/bin/sh\nexec ${ssh.map((word) => `'${word}'`).join(" ")} -o 'SendEnv=*' "$@"\n`,
      );
      chmodSync(join(bin, "ssh"), 0o755);
      rmSync(join(home, "environments.toml"), { force: true });
      const variables = { ...env(), PATH: `${bin}:${process.env.PATH}` };
      const place = ["run", "--environment", `ssh://127.0.0.1:${port}`];
      expectNone(await look(place, variables, Object.values(HOST), false));
      expectNone(await look(place, variables, Object.values(HOST_UNNAMED), true));
    },
  );

  it("of an address are in no error, list, check, log and nothing that a model reads", async () => {
    const refusing = createServer((request, response) => {
      response
        .writeHead(401, { "content-type": "text/plain" })
        .end(`not ${request.headers.authorization} at ${request.url}`);
    });
    refusing.on("upgrade", (request, socket) => {
      socket.end(`HTTP/1.1 401 not ${request.headers.authorization} at ${request.url}\r\n\r\nnot ${request.url}`);
    });
    refusing.listen(0, "127.0.0.1");
    await once(refusing, "listening");
    onTestFinished(() => void refusing.close());
    const { port } = refusing.address() as AddressInfo; // it listens on TCP
    const url = (at: number) => `url = "ws://me:${OWN.user}@127.0.0.1:${at}/p?key=${OWN.query}"`;
    const bearer = `auth_bearer_token = "${OWN.bearer}"`;
    const failing = ["-e", "console.error(process.argv, process.env); process.exit(3)", "--", `--token=${OWN.arg}`];
    const file =
      'default = "down"\n' +
      table("down", [url(1), bearer]) +
      table("refusing", [url(port), bearer]) +
      table("failing", [
        `program = "${process.execPath}"`,
        `args = ${words(failing)}`,
        `env = { A_KEY = "${OWN.variable}" }`,
      ]);
    writeFileSync(join(home, "environments.toml"), file);
    const call = ["tools", "call", "exec_command", "-", "-a", "never", "-s", "danger-full-access"];
    const lines = [
      ...[["list"], ["list", "--json"], ["check"], ["check", "--json"], ["info", "down"]].map((args) => [
        "environment",
        ...args,
      ]),
      ...["down", "refusing", "failing"].flatMap((id) => [
        ["run", "--environment", id, "--", "true"],
        [...call, "--environment", id],
        ["tools", "list", "--environment", id],
      ]),
      [...call],
    ];
    const outputs = await Promise.all(
      lines.map(async (line) => {
        const child = command.start(line, { ...env(), CODEX_DEBUG: "1" });
        child.stdin.end('{"cmd":"true"}');
        const { stdout, stderr } = await finish(child);
        return `${line.join(" ")}: ${stdout}${stderr}`;
      }),
    );
    for (const output of outputs) expectNone(output);
    expect(outputs.filter((output) => output.includes("ECONNREFUSED")).length).toBeGreaterThan(4);
    expect(outputs.some((output) => output.includes("exited with code 3"))).toBe(true);
  });

  it.each([
    ["a URL that cannot be parsed", (secret: string) => `ws://me:${secret}@ho st/?key=${secret}`],
    ["one with a quote", (secret: string) => `ws://me:${secret}'x@host.invalid/?key=${secret}'x`],
    ["another scheme", (secret: string) => `http://me:${secret}@host.invalid/?key=${secret}#${secret}`],
    ["no URL", (secret: string) => `host.invalid/?key=${secret}`],
  ])("of CODEX_EXEC_SERVER_URL are not shown: %s", async (_name, url) => {
    rmSync(join(home, "environments.toml"), { force: true });
    const variables = { CODEX_HOME: home, CODEX_EXEC_SERVER_URL: url(OWN.query) };
    for (const line of [
      ["run", "--", "true"],
      ["environment", "list"],
      ["environment", "check"],
    ]) {
      const child = command.start(line, variables);
      child.stdin.end();
      const { stdout, stderr } = await finish(child);
      expectNone(`${stdout}${stderr}`);
    }
  });

  it.each([
    ["url", (secret: string) => [`url = "http://me:${secret}@h/?k=${secret}"`]],
    ["auth_bearer_token", (secret: string) => ['url = "ws://example.com"', `auth_bearer_token = "${secret}"`]],
    ["auth_bearer_token", (secret: string) => ['url = "wss://example.com"', `auth_bearer_token = "${secret}\\n"`]],
    ["args", (secret: string) => ['url = "wss://example.com"', `args = ["${secret}"]`]],
    ["env", (secret: string) => ['program = "x"', `env = { A = "${secret}", B = 1 }`]],
    ["toml", (secret: string) => ['url = "wss://example.com"', `auth_bearer_token = "${secret}`]],
  ])("of an invalid file are not shown: %s", async (_key, lines) => {
    writeFileSync(join(home, "environments.toml"), table("a", lines(OWN.bearer)));
    const child = command.start(["environment", "list"], { CODEX_HOME: home });
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/environments\.toml:\d+: /)]);
    expectNone(`${stdout}${stderr}`);
  });
});
