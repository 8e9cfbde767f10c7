import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

/** Path of a program, searched for in the sbin directories too. */
export const findProgram = (name: string): string | undefined =>
  [...(process.env.PATH ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"]
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

const sshd = findProgram("sshd");

/** Why there is no ssh server here, as the end of a test's name; empty where there is one. */
export const NO_SSHD = await describeLack();

/** Root is always let in. Others are where their account has a shell; only trying shows whether it does. */
async function describeLack(): Promise<string> {
  if (sshd === undefined || findProgram("ssh") === undefined) return ": skipped, sshd or ssh is missing";
  if (process.getuid?.() === 0) return "";
  try {
    const { port, ssh, close } = await openSshd();
    const [program, ...options] = ssh;
    const tried = await promisify(execFile)(program, [...options, "-p", String(port), "127.0.0.1", "echo in"])
      .then(({ stdout }) => (stdout === "in\n" ? "" : `it has no shell (${stdout.trim()})`))
      .finally(close);
    return tried === "" ? "" : `: skipped, sshd of this user does not let it in: ${tried}`;
  } catch (error) {
    const lines = error instanceof Error ? error.message.trim().split("\n") : [];
    return `: skipped, sshd of this user does not let it in: ${lines.at(-1)}`;
  }
}

/** A real ssh server on loopback, with its own keys. */
export interface Sshd {
  readonly port: number;
  /** The ssh program and options that trust its key and can log in. */
  readonly ssh: readonly [string, ...string[]];
  /** Remote directories for installed servers, sockets and other files. */
  readonly cache: string;
  readonly directory: string;
  /** Process ids of running ssh clients connected to it. */
  listClients(): number[];
  /** Process ids of the server's side of their connections. */
  listSessions(): number[];
  /** Ends it with all its processes. */
  close(): Promise<void>;
}

/** Options of one server. */
export interface SshdOptions {
  /** Further lines of sshd_config. */
  settings?: readonly string[];
  /** Variables of its programs. */
  env?: Readonly<Record<string, string>>;
}

/** Starts a server that ends with the test. */
export async function startSshd(options: SshdOptions = {}): Promise<Sshd> {
  const started = await openSshd(options);
  onTestFinished(started.close);
  return started;
}

/** Starts a server. */
export async function openSshd({ settings = [], env = {} }: SshdOptions = {}): Promise<Sshd> {
  const directory = mkdtempSync(join(tmpdir(), "ssh-"));
  const at = (name: string) => join(directory, name);
  for (const key of ["host", "user"]) execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
  const port = await findFreePort();
  for (const name of ["cache", "run"]) mkdirSync(at(name), { mode: 0o700 });
  const variables = {
    ...{
      XDG_CACHE_HOME: at("cache"),
      // Shells make files there.
      XDG_CONFIG_HOME: at("config"),
      XDG_DATA_HOME: at("data"),
      XDG_RUNTIME_DIR: at("run"),
      CODEX_HOME: at("home"),
      PATH: process.env.PATH ?? "",
    },
    ...env,
  };
  const server = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey "${at("host")}"`,
    `AuthorizedKeysFile "${at("user.pub")}"`,
    `PidFile "${at("pid")}"`,
    ...["UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no", "MaxStartups 100"],
    `SetEnv ${Object.entries(variables)
      .map(([name, value]) => `"${name}=${value}"`)
      .join(" ")}`,
    ...settings,
  ];
  writeFileSync(at("sshd_config"), `${server.join("\n")}\n`);
  const [type, key] = readFileSync(at("host.pub"), "utf8").split(" ");
  writeFileSync(at("known_hosts"), `[127.0.0.1]:${port} ${type} ${key}\n`);
  const client = [
    "Host *",
    `  IdentityFile "${at("user")}"`,
    "  IdentitiesOnly yes",
    "  IdentityAgent none",
    `  User ${userInfo().username}`,
    `  UserKnownHostsFile "${at("known_hosts")}"`,
    "  GlobalKnownHostsFile /dev/null",
    "  StrictHostKeyChecking yes",
  ];
  writeFileSync(at("ssh_config"), `${client.join("\n")}\n`);
  // As root it requires a directory for privilege separation.
  if (process.getuid?.() === 0 && !existsSync("/run/sshd")) mkdirSync("/run/sshd", { recursive: true });
  const child = spawn(sshd!, ["-D", "-e", "-f", at("sshd_config")], { stdio: ["ignore", "ignore", "pipe"] });
  const log: Buffer[] = [];
  child.stderr.on("data", (bytes: Buffer) => log.push(bytes));
  const close = async () => {
    await end(child);
    stopServers(at("run"));
    rmSync(directory, { recursive: true, force: true });
  };
  await untilOpen(port, () => {
    if (child.exitCode !== null) throw new Error(`sshd has ended: ${Buffer.concat(log).toString()}`);
  });
  const ssh = [findProgram("ssh")!, "-F", at("ssh_config")] as const;
  return {
    port,
    ssh,
    cache: at("cache"),
    directory,
    listClients: () => listClients(at("ssh_config")),
    listSessions: () => listDescendants(child.pid!).flatMap(({ pid, command }) => (/sshd/.test(command) ? [pid] : [])),
    close,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill();
  await exited;
}

/** Background servers, by the socket on their command line. */
function stopServers(runtime: string): void {
  for (const pid of listProcesses(`--serve-socket ${runtime}`)) {
    try {
      process.kill(pid, "SIGTERM");
    } catch {
      // gone meanwhile
    }
  }
}

const listClients = (config: string): number[] => listProcesses(`-F ${config}`);

function listProcesses(words: string): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,args="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => (line.includes(words) ? [Number.parseInt(line, 10)] : []));
}

function listDescendants(ancestor: number): { pid: number; command: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" }).split("\n");
  const all = lines.map((line) => {
    const [pid, parent, command = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), command };
  });
  const below = (parent: number): typeof all =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  return below(ancestor);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function untilOpen(port: number, check: () => void): Promise<void> {
  for (;;) {
    check();
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
