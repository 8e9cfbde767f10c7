// A terminal of an executor through `codex rendezvous`, encrypted, against the same through a bare websocket proxy, a bare TCP proxy, and
// `ssh -J`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { createOrchestrator } from "@codex/orchestrator";
import { openNoiseChannel } from "@codex/relay";
import { codex, median, printTable } from "./harness.mjs";

/** In each round every subject has its turn: some keys in a row, and one flood. */
const ROUNDS = 9;
const KEYS = 150;
/** Until V8 has compiled what a key needs. */
const WARM_UP_KEYS = 1_000;
const BYTES = 30_000_000;
const COMMAND = ["head", "-c", String(BYTES), "/dev/zero"];

export async function run() {
  const subjects = {
    "ws proxy": await openProxied(new URL("relay/ws-pipe.mjs", import.meta.url)),
    rendezvous: await openRelayed(),
    "tcp proxy": await openProxied(new URL("relay/pipe.mjs", import.meta.url)),
  };
  const ssh = await openSsh();
  if (ssh === undefined) console.log("ssh -J is skipped: sshd cannot be started");
  else subjects["ssh -J"] = ssh;
  const measured = Object.entries(subjects).map(([name, subject]) => ({ name, ...subject, echoes: [], flows: [] }));
  for (const { type } of measured) await typeKeys(type, WARM_UP_KEYS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { type, echoes } of measured) echoes.push(await typeKeys(type, KEYS));
    for (const { flow, flows } of measured) flows.push(await flow());
  }
  const [proxy] = measured;
  const rows = measured.map(({ name, echoes, flows }) => ({
    name,
    "echo, ms": +median(echoes).toFixed(3),
    "of the ws proxy": ratio(echoes, proxy.echoes),
    "by minima": +(Math.min(...echoes) / Math.min(...proxy.echoes)).toFixed(2),
    "MB/s": Math.round(BYTES / 1e3 / median(flows)),
    "throughput of the ws proxy": ratio(proxy.flows, flows),
    "throughput by minima": +(Math.min(...proxy.flows) / Math.min(...flows)).toFixed(2),
  }));
  printTable(`a relayed terminal, ${ROUNDS} rounds of ${KEYS} keys and ${BYTES / 1e6} MB each, medians`, rows);
  for (const { close } of Object.values(subjects)) await close();
}

/** Median milliseconds of so many keys, one after the other. */
async function typeKeys(type, count) {
  const times = [];
  for (let key = 0; key < count; key += 1) {
    const began = performance.now();
    await type();
    times.push(performance.now() - began);
  }
  return median(times);
}

/** Median of the ratios of all rounds: what else the machine does concerns both of a round. */
const ratio = (these, those) => +median(these.map((value, round) => value / those[round])).toFixed(2);

async function openProxied(proxy) {
  const executor = await start([codex, "executor", "--listen", "ws://127.0.0.1:0"]);
  const { line, child } = await start([fileURLToPath(proxy), new URL(executor.line).port]);
  const channel = await connectWebSocketChannel(executor.line.replace(/:\d+/, `:${line}`));
  return openTerminal(channel, [executor.child, child]);
}

async function openRelayed() {
  const rendezvous = await start([codex, "rendezvous"]);
  const remote = ["executor", "--remote", rendezvous.line, "--environment-id", "bench"];
  const env = { ...process.env, CODEX_API_KEY: "any" };
  const executor = spawn(process.execPath, [codex, ...remote], { stdio: ["ignore", "ignore", "inherit"], env });
  const registry = {
    url: rendezvous.line,
    environmentId: "bench",
    authorize: () => ({ authorization: "Bearer any" }),
  };
  const open = () => openNoiseChannel({ registry }).catch(() => undefined);
  let channel = await open();
  while (channel === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    channel = await open();
  }
  return openTerminal(channel, [executor, rendezvous.child]);
}

async function openTerminal(channel, children) {
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  await orchestrator.attach({ name: "bench", channel: Promise.resolve(channel) });
  const place = { cwd: process.cwd(), env: { PATH: process.env.PATH }, tty: true };
  let arrived = () => {};
  const started = new Promise((resolve) => {
    arrived = resolve;
  });
  const argv = ["sh", "-c", "echo ready; exec cat"];
  const cat = orchestrator.runCommand({ argv, stdin: "open", ...place }, { onOutput: () => arrived() });
  await started;
  return {
    type: () =>
      new Promise((resolve) => {
        arrived = resolve;
        void cat.write(Buffer.from("x"));
      }),
    async flow() {
      const began = performance.now();
      await orchestrator.runCommand({ argv: COMMAND, ...place }, { onOutput: () => {} }).ended;
      return performance.now() - began;
    },
    async close() {
      await cat.signal("kill");
      await cat.ended;
      await orchestrator.close();
      for (const child of children) child.kill("SIGKILL");
    },
  };
}

/** An sshd of this user on this host, which is jump host and host; undefined where there is none. */
async function openSsh() {
  const directory = mkdtempSync(join(tmpdir(), "bench-ssh-"));
  const at = (name) => join(directory, name);
  let daemon;
  try {
    for (const name of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
    const port = await freePort();
    const settings = { ListenAddress: `127.0.0.1:${port}`, HostKey: at("host"), AuthorizedKeysFile: at("user.pub") };
    const more = { StrictModes: "no", PermitRootLogin: "yes", UsePAM: "no", PidFile: "none" };
    const toLines = (words) => Object.entries(words).map(([name, value]) => `${name} ${value}\n`);
    writeFileSync(at("sshd"), toLines({ ...settings, ...more }).join(""));
    const options = { StrictHostKeyChecking: "no", UserKnownHostsFile: "/dev/null", IdentityFile: at("user") };
    const quiet = { LogLevel: "ERROR", Port: port, IdentitiesOnly: "yes" };
    writeFileSync(at("ssh"), `Host *\n${toLines({ ...options, ...quiet }).join("")}`);
    daemon = spawn("/usr/sbin/sshd", ["-D", "-f", at("sshd")], { stdio: "ignore" });
    daemon.once("error", () => {});
    const words = ["-F", at("ssh"), "-tt", "-J", "127.0.0.1", "127.0.0.1"];
    const open = (command) => spawn("ssh", [...words, command], { stdio: ["pipe", "pipe", "inherit"] });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const cat = open("echo ready; exec cat");
    let arrived = () => {};
    const started = new Promise((resolve, reject) => {
      arrived = resolve;
      cat.once("exit", () => reject(new Error("ssh ended")));
    });
    cat.stdout.on("data", () => arrived());
    await started;
    return {
      type: () =>
        new Promise((resolve) => {
          arrived = resolve;
          cat.stdin.write("x");
        }),
      flow: () => timeSsh(open),
      async close() {
        cat.kill("SIGKILL");
        daemon.kill();
        rmSync(directory, { recursive: true, force: true });
      },
    };
  } catch {
    daemon?.kill();
    rmSync(directory, { recursive: true, force: true });
    return undefined;
  }
}

/** From the first byte to the last: not the time of the connection, which the others have already. */
async function timeSsh(open) {
  const child = open(COMMAND.join(" "));
  let began;
  child.stdout.on("data", () => {
    began ??= performance.now();
  });
  await once(child.stdout, "end");
  return performance.now() - began;
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function start(args) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return { line, child };
}
