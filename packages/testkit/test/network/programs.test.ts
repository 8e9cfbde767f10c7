// Everyday programs in a sandbox whose network is managed: each reaches the allowed host with the proxy variables and without any, and
// fails at another host, which its network then tells.

import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { NO_SSHD, openSshd, type Sshd } from "../../../environments/test/ssh/sshd.js";
import { joinBytes } from "../../../process-host/test/support.js";
import { startWorld, type World } from "./world.js";

const PATH = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
const find = (name: string) => PATH.split(delimiter).find((directory) => existsSync(join(directory, name)));
const support = await createCommandSandbox().getSupport();
const isPossible =
  support.kind === "bubblewrap" && ["nsenter", "curl", "python3", "git", "openssl"].every((name) => find(name));

const HOST = "host.internal";
/** A host that no rule allows. */
const OTHER = "other.example";

interface Program {
  name: string;
  /** Programs that it needs; without one, the row is skipped. */
  needs: readonly string[];
  /** Has `$HOST`, the ports of the world, `$WORLD` for its files and `$CA` for its certificate. */
  script: string;
  output: string;
}

const WS = JSON.stringify(createRequire(import.meta.url).resolve("ws"));

const PROGRAMS: readonly Program[] = [
  { name: "curl", needs: ["curl"], script: `curl -fsS --cacert $CA https://$HOST:$HTTPS/hello`, output: "from https" },
  { name: "curl, plain", needs: ["curl"], script: `curl -fsS http://$HOST:$HTTP/hello`, output: "from http\n" },
  {
    name: "wget",
    needs: ["wget"],
    script: `wget -q -t 1 -O - --ca-certificate=$CA https://$HOST:$HTTPS/hello`,
    output: "from https",
  },
  {
    name: "git over https",
    needs: ["git"],
    script: `git -c http.sslCAInfo=$CA clone -q https://$HOST:$HTTPS/repo.git out && cat out/hello`,
    output: "from git",
  },
  {
    name: "git over ssh",
    needs: ["git", "ssh"],
    script: `GIT_SSH_COMMAND="$SSH" git clone -q ssh://$HOST:$SSH_PORT$WORLD/files/repo.git out && cat out/hello`,
    output: "from git",
  },
  { name: "ssh", needs: ["ssh"], script: `$SSH -p $SSH_PORT $HOST echo hello from ssh`, output: "from ssh" },
  {
    name: "npm",
    needs: ["npm"],
    script: `npm_config_cafile=$CA npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0 \\
  --registry=https://$HOST:$HTTPS/ tiny && cat node_modules/tiny/package.json`,
    output: `"tiny"`,
  },
  {
    name: "pnpm",
    needs: ["pnpm"],
    script: `echo '{}' >package.json && npm_config_cafile=$CA pnpm add --config.fetch-retries=0 --store-dir=$PWD/store \\
  --registry=https://$HOST:$HTTPS/ tiny && cat node_modules/tiny/package.json`,
    output: `"tiny"`,
  },
  {
    name: "pip",
    needs: ["pip"],
    script: `PIP_CERT=$CA pip install -q --disable-pip-version-check --no-input --retries 0 --no-cache-dir \\
  --target out --index-url https://$HOST:$HTTPS/simple tiny && ls out`,
    output: "tiny.py",
  },
  {
    name: "apt-get",
    needs: ["apt-get"],
    script: `mkdir -p state/lists/partial cache/archives/partial && echo "deb [trusted=yes] http://$HOST:$HTTP/apt ./" >sources
TMPDIR=$PWD apt-get -q -o Dir::Etc::sourcelist=$PWD/sources -o Dir::Etc::sourceparts=/dev/null -o Dir::State=$PWD/state \\
  -o Dir::State::status=/dev/null -o Dir::Cache=$PWD/cache -o APT::Sandbox::User= -o Acquire::Retries=0 \\
  --error-on=any update`,
    output: "apt ./ Packages [83 B]",
  },
  {
    name: "go",
    needs: ["go"],
    script: `SSL_CERT_FILE=$CA GOPROXY=https://$HOST:$HTTPS/go GOFLAGS=-mod=mod GONOSUMDB='*' GOTOOLCHAIN=local GOPATH=$PWD/go \\
  GOCACHE=$PWD/cache go list -m -versions example.com/tiny`,
    output: "v1.0.0",
  },
  {
    name: "cargo",
    needs: ["cargo"],
    script: `export CARGO_HOME=$PWD/cargo CARGO_HTTP_CAINFO=$CA CARGO_NET_RETRY=0
CARGO_REGISTRIES_X_INDEX=sparse+https://$HOST:$HTTPS/cargo/ RUSTC_BOOTSTRAP=1 cargo -Z sparse-registry search --registry x tiny`,
    output: `tiny = "1.0.0"`,
  },
  {
    name: "urllib of Python",
    needs: ["python3"],
    script: `SSL_CERT_FILE=$CA python3 -c "
import urllib.request; print(urllib.request.urlopen('https://$HOST:$HTTPS/hello').read())"`,
    output: "from https",
  },
  {
    name: "requests of Python",
    needs: ["python3", "../lib/python3/dist-packages/requests"],
    script: `REQUESTS_CA_BUNDLE=$CA python3 -c "
import requests; print(requests.get('https://$HOST:$HTTPS/hello').text)"`,
    output: "from https",
  },
  {
    name: "asyncio of Python",
    needs: ["python3"],
    script: `SSL_CERT_FILE=$CA python3 -c "
import asyncio
async def main():
  r, w = await asyncio.open_connection('$HOST', $HTTPS, ssl=True)
  w.write(b'GET /hello HTTP/1.0\\r\\n\\r\\n'); print(await r.read())
asyncio.run(main())"`,
    output: "from https",
  },
  {
    name: "fetch of Node",
    needs: ["node"],
    script: `NODE_EXTRA_CA_CERTS=$CA node -e "fetch('https://$HOST:$HTTPS/hello').then((r) => r.text()).then(console.log)"`,
    output: "from https",
  },
  {
    name: "a WebSocket of Node",
    needs: ["node"],
    script: `NODE_EXTRA_CA_CERTS=$CA node -e "
const socket = new (require('$WS'))('wss://$HOST:$HTTPS/socket');
socket.on('open', () => socket.send('hello')).on('message', (text) => { console.log(String(text)); socket.close(); })"`,
    output: "echo hello",
  },
  {
    name: "Java",
    needs: ["java"],
    script: `java -Xshare:auto $WORLD/Get.java http://$HOST:$HTTP/hello`,
    output: "from http",
  },
  {
    name: "psql",
    needs: ["psql"],
    script: `psql "host=$HOST port=$POSTGRES user=u dbname=d sslmode=disable gssencmode=disable" -Atc 'select 1'`,
    output: "from postgres",
  },
  { name: "redis-cli", needs: ["redis-cli"], script: `redis-cli -h $HOST -p $REDIS ping`, output: "from redis" },
];

const JAVA = `import java.net.URI;
import java.net.http.*;
class Get {
  public static void main(String[] args) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(args[0])).build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.print(answer.body());
  }
}
`;

describe.runIf(isPossible)("a program reaches the allowed host, and no other", () => {
  let world: World;
  let sshd: Sshd | undefined;
  let backend: ExecBackend;
  beforeAll(async () => {
    world = await startWorld(HOST);
    writeFileSync(join(world.directory, "Get.java"), JAVA);
    writeFileSync(join(world.directory, "apt.conf"), 'Dir::Etc::parts "/dev/null";\nDir::Etc::main "/dev/null";\n');
    chmodSync(world.directory, 0o755);
    if (NO_SSHD === "") sshd = await openSshd();
    backend = createLocalBackend();
  });
  afterAll(async () => {
    await backend?.close();
    await sshd?.close();
    world?.close();
  });

  async function run(script: string, host: string) {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "codex-program-")));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const { http, https, postgres, redis } = world.ports;
    const ports = [http, https, postgres, redis, ...(sshd ? [sshd.port] : [])];
    const path = (place: string) => ({ type: "path" as const, path: place });
    const entries = [
      { path: path("/"), access: "read" as const },
      { path: path(cwd), access: "write" as const },
    ];
    const process = await backend.start({
      argv: ["/bin/bash", "-c", script],
      cwd,
      env: {
        // What is configured for programs of this host does not count.
        ...{ APT_CONFIG: join(world.directory, "apt.conf"), PIP_CONFIG_FILE: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
        npm_config_globalconfig: "/dev/null",
        ...{
          PATH,
          HOME: cwd,
          LC_ALL: "C",
          HOST: host,
          WORLD: world.directory,
          CA: world.certificate,
          WS: JSON.parse(WS),
        },
        ...{ HTTP: `${http}`, HTTPS: `${https}`, POSTGRES: `${postgres}`, REDIS: `${redis}` },
        ...(sshd && {
          SSH_PORT: `${sshd.port}`,
          SSH: `${sshd.ssh.join(" ")} -o HostKeyAlias=[127.0.0.1]:${sshd.port}`,
        }),
      },
      stdio: { kind: "pipe", stdin: "null" },
      sandbox: {
        permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } },
      },
      network: {
        scope: "s",
        policy: {
          rules: ports.map((port) => ({ pattern: `${HOST}:${port}`, decision: "allow" })),
          mode: "full",
          allowLocalBinding: false,
        },
      },
    });
    await process.closed;
    const outcome = await process.exited;
    const output = joinBytes((await process.log.read(0)).chunks).toString();
    return { output, isDone: outcome.kind === "exited" && outcome.code === 0, denied: process.network?.denied ?? [] };
  }

  for (const { name, needs, script, output } of PROGRAMS) {
    const lack = needs.find((program) => find(program) === undefined);
    const isSkipped = lack !== undefined || (needs.includes("ssh") && NO_SSHD !== "");
    describe.skipIf(isSkipped)(`${name}${lack === undefined ? "" : ` (skipped: ${lack} is missing)`}`, () => {
      it.each([
        ["with the variables", ""],
        ["without variables", `for name in $(compgen -e | grep -i proxy); do unset $name; done\n`],
      ])("%s", async (_, before) => {
        const reached = await run(before + script, HOST);
        expect(reached).toMatchObject({ output: expect.stringContaining(output), isDone: true, denied: [] });
        const refused = await run(before + script, OTHER);
        expect(refused.output).not.toContain(output);
        expect(refused.isDone).toBe(false);
        expect(refused.denied).toMatchObject([
          { host: OTHER, reason: expect.stringMatching(/^(not_allowed|looked_up)$/) },
        ]);
      });
    });
  }
});
