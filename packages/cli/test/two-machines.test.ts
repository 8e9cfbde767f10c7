// Runs the commands of docs/two-machines.md, both machines being this one.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codexWords } from "./support.js";

const page = readFileSync(fileURLToPath(new URL("../../../docs/two-machines.md", import.meta.url)), "utf8");

interface Block {
  kind: string;
  text: string;
}

/** The code of each section, in order. */
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const blocks = [...section.matchAll(/^```(.+)\n([\s\S]*?)^```$/gm)];
      return [section.slice(0, section.indexOf("\n")), blocks.map(([, kind, text]) => ({ kind: kind!, text: text! }))];
    }),
);
const setup = sections.get("TLS")!.find(({ kind }) => kind === "sh there setup")!.text;

const has = (program: string) => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const skips = (program: string) => (has(program) ? "" : ` (${program} is missing)`);

let base: string;
let ports: Map<string, number>;
const children: ChildProcess[] = [];

/** Stands in for ssh: runs the command here, or forwards a port. */
const SSH = `#!/bin/sh
case "$1" in
  -N) exec node -e 'const net = require("net"); const [port, host, to] = process.argv[1].split(":");
      net.createServer((near) => { const far = net.connect(to, host); near.pipe(far).pipe(near);
        near.on("error", () => {}); far.on("error", () => {}); }).listen(port, "127.0.0.1", () => console.log("ready"));' "$3" ;;
  -T) while [ "$1" != -- ]; do shift; done; shift 2; exec sh -c "$*" ;;
  *) shift; exec sh -c "$*" ;;
esac
`;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "two-"));
  mkdirSync(join(base, "bin"));
  for (const [name, text] of [
    ["codex", `#!/bin/sh\nexec ${codexWords} "$@"\n`],
    ["ssh", SSH],
  ] as const) {
    writeFileSync(join(base, "bin", name), text);
    chmodSync(join(base, "bin", name), 0o755);
  }
  ports = new Map();
  for (const name of ["7000", "7001", "7443"]) ports.set(name, await findFreePort());
});
afterEach(async () => {
  await finish("codex executor --attach --stop");
  await finish('for c in codex-ts/*/codex.js; do test ! -e "$c" || node "$c" exec-server --attach --stop; done');
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill();
    await ended;
  }
  rmSync(base, { recursive: true });
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** The text with what is another machine's made this one's. */
const localize = (text: string) =>
  text
    .replaceAll("DNS:build.example", "IP:127.0.0.1")
    .replaceAll("build.example", "127.0.0.1")
    .replaceAll("0.0.0.0", "127.0.0.1")
    .replaceAll("/run/user/1000/", `${base}/`)
    .replace(/\b(7000|7001|7443)\b/g, (port) => String(ports.get(port)));

const start = (text: string) => {
  const env = {
    ...process.env,
    PATH: `${join(base, "bin")}:${process.env.PATH}`,
    CODEX_HOME: base,
    XDG_RUNTIME_DIR: base,
    XDG_CACHE_HOME: base,
  };
  const child = spawn(
    "sh",
    [
      "-ec",
      localize(text)
        .trim()
        .replace(/^(codex executor|ssh -N)/, "exec $1"),
    ],
    {
      cwd: base,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  children.push(child);
  return child;
};

async function finish(text: string): Promise<string> {
  const child = start(text);
  let output = "";
  let errors = "";
  child.stdout!.on("data", (bytes: Buffer) => {
    output += bytes;
  });
  child.stderr!.on("data", (bytes: Buffer) => {
    errors += bytes;
  });
  const [code] = await once(child, "close");
  expect(code, `${text}${errors}`).toBe(0);
  return output;
}

/** Until it says that it listens. */
const serve = async (text: string) => void (await once(createInterface({ input: start(text).stdout! }), "line"));

async function runSection(blocks: readonly Block[]): Promise<string[]> {
  const outputs: string[] = [];
  for (const { kind, text } of blocks) {
    if (kind === "sh there" || kind === "sh here background") await serve(text);
    else if (kind === "nginx") await serveProxy(text);
    else if (kind === "sh there setup") await finish(text);
    else if (kind === "sh here") outputs.push(await finish(text));
  }
  return outputs;
}

/** nginx with the server of the page, in the foreground and without what it keeps elsewhere. */
async function serveProxy(text: string): Promise<void> {
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${base}/${name};`,
  );
  const http = `access_log off; ${places.join(" ")} ${localize(text).replace("listen ", "listen 127.0.0.1:")}`;
  const config = `daemon off; pid ${base}/nginx.pid; error_log stderr crit; events {} http { ${http} }`;
  writeFileSync(join(base, "nginx.conf"), config);
  const nginx = spawn("nginx", ["-p", base, "-c", join(base, "nginx.conf"), "-e", "stderr"], { stdio: "inherit" });
  children.push(nginx);
  await untilOpen(ports.get("7443")!);
}

async function untilOpen(port: number): Promise<void> {
  await expect
    .poll(
      () =>
        new Promise<boolean>((resolve) => {
          const socket = connect(port, "127.0.0.1");
          socket.once("connect", () => {
            socket.destroy();
            resolve(true);
          });
          socket.once("error", () => resolve(false));
        }),
      { timeout: 20_000 },
    )
    .toBe(true);
}

describe("two machines in five minutes", () => {
  const name = `${hostname()}\n`;

  it("is made of these ways", () => {
    const ways = [
      "ssh",
      "ssh and a command",
      "ssh and a server that stays",
      "ssh tunnel",
      "TLS",
      "Proxy",
      "Unix socket",
      "From a program",
    ];
    expect([...sections.keys()]).toEqual(ways);
  });

  it.each(["ssh", "ssh and a command", "ssh and a server that stays", "ssh tunnel", "Unix socket"])(
    "%s",
    async (section) => {
      expect(await runSection(sections.get(section)!)).toEqual([name]);
    },
  );

  it.skipIf(!has("openssl"))(`TLS${skips("openssl")}`, async () => {
    const [ran, listed] = await runSection(sections.get("TLS")!);
    expect(ran).toBe(name);
    expect(listed).toContain("exec_command");
  });

  it.skipIf(!has("openssl") || !has("nginx"))(`a proxy${skips("openssl")}${skips("nginx")}`, async () => {
    await finish(setup);
    expect(await runSection(sections.get("Proxy")!)).toEqual([name]);
  });
});
