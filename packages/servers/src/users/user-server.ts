import { type ChildProcessByStdio, execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Logger } from "@codex/telemetry";
import { takeService } from "../process/service-manager.js";
import type { ServedUser } from "./user-file.js";

/** An account of this host. */
interface Account {
  uid: number;
  gid: number;
  home: string;
}

/** @throws Error for an account that does not exist, or root */
function findAccount(name: string): Account {
  const line =
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((each) => each.startsWith(`${name}:`)) ?? lookUp(name);
  const [, , uid, gid, , home] = line.split(":");
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${name}`);
  if (uid === "0") throw new Error(`the account ${name} is root, which nobody is served as`);
  return { uid: Number(uid), gid: Number(gid), home: home || "/" };
}

/** Accounts of directory services. */
function lookUp(name: string): string {
  try {
    return execFileSync("getent", ["passwd", name], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}

/** For how long a server of a user may take to listen, milliseconds. */
const START_MS = 20_000;

/** The server of one user: a process of its own, as that user, that is started with the first connection. */
export class UserServer {
  user: ServedUser;
  readonly #role: string;
  readonly #directory: string;
  readonly #log: Logger;
  #child: ChildProcessByStdio<null, Readable, Readable> | undefined;
  #socket: Promise<string> | undefined;
  #isEnding = false;

  /** @param directory a private directory of this process, below which the socket is */
  constructor(user: ServedUser, { role, directory, log }: { role: string; directory: string; log: Logger }) {
    this.user = user;
    this.#role = role;
    this.#directory = join(directory, user.name);
    this.#log = log;
  }

  /** Path of its socket, once it listens. Rejects with the reason why it does not. */
  getSocket(): Promise<string> {
    if (this.#isEnding) return Promise.reject(new Error("this server is stopping"));
    this.#socket ??= this.#start().catch((error: unknown) => {
      this.#socket = undefined;
      throw error;
    });
    return this.#socket;
  }

  async #start(): Promise<string> {
    const { name, account, directory, options } = this.user;
    const { uid, gid, home } = findAccount(account);
    rmSync(this.#directory, { recursive: true, force: true });
    mkdirSync(this.#directory, { mode: 0o700 });
    chownSync(this.#directory, uid, gid);
    const path = join(this.#directory, "socket");
    const identity = [
      "--reuid",
      String(uid),
      "--regid",
      String(gid),
      "--init-groups",
      "--reset-env",
      "--pdeathsig",
      "TERM",
    ];
    const server = [process.execPath, process.argv[1] ?? "", this.#role, "--listen", `unix://${path}`, ...options];
    const child = spawn("setpriv", [...identity, "--", ...server], {
      cwd: directory ?? home,
      env: { PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin" },
      // A socket of the service manager is the one on which everybody's tokens arrive.
      stdio: ["ignore", "pipe", "pipe", ...takeService().sockets.map(() => "ignore" as const)],
    }) as ChildProcessByStdio<null, Readable, Readable>;
    this.#child = child;
    let last = "";
    createInterface({ input: child.stderr }).on("line", (line) => {
      last = line;
      this.#log.warn?.("the server of a user says", { user: name, line });
    });
    child.once("exit", (code, signal) => {
      this.#child = undefined;
      this.#socket = undefined;
      this.#log.info?.("the server of a user has ended", {
        user: name,
        code: code ?? undefined,
        signal: signal ?? undefined,
      });
    });
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`the server of ${name} did not start: ${why}`));
      const timer = setTimeout(() => fail(`it did not listen within ${START_MS} ms`), START_MS);
      const settle = (then: () => void) => () => {
        clearTimeout(timer);
        then();
      };
      createInterface({ input: child.stdout }).once("line", settle(resolve));
      child.once(
        "error",
        settle(() => fail("setpriv cannot be run")),
      );
      child.once(
        "exit",
        settle(() => fail(last === "" ? "it has ended" : last)),
      );
    });
    this.#log.info?.("the server of a user listens", { user: name, account, pid: child.pid });
    return path;
  }

  /** Asks it to end, and waits until it has. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#socket?.catch(() => {});
    const child = this.#child;
    if (child !== undefined) {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await exited;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
