import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// Compiled: a child process cannot load TypeScript on Node 20.
const CHILD = fileURLToPath(new URL("../../dist/rendezvous/node-child.js", import.meta.url));

/** Runs a program until stdin ends, which it also does when this process is killed; then removes the directory `$0`. */
const UNTIL_PARENT_ENDS = `exec 3<&0; "$@" & child=$!; { cat <&3 > /dev/null; kill -9 $child; } & wait $child; kill $! 2> /dev/null; rm -rf "$0"`;

/** A NATS server for one run. */
export interface NatsServer {
  url: string;
  stop(): Promise<void>;
}

/** Starts `nats-server` with JetStream on a free port; undefined if it is not installed. */
export async function startNats(): Promise<NatsServer | undefined> {
  const directory = mkdtempSync(join(tmpdir(), "nats "));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const words = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", join(directory, "store"), "--ports_file_dir", directory];
  if (!isInstalled("nats-server")) {
    remove();
    return undefined;
  }
  const child = spawn("sh", ["-c", UNTIL_PARENT_ENDS, directory, "nats-server", ...words], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  const exited = once(child, "exit");
  for (;;) {
    const file = readdirSync(directory).find((name) => name.endsWith(".ports"));
    const text = file === undefined ? "" : readFileSync(join(directory, file), "utf8");
    if (text.trimEnd().endsWith("}")) {
      const { nats } = JSON.parse(text) as { nats: [string] };
      return {
        url: nats[0],
        async stop() {
          child.stdin.end();
          await exited;
          remove();
        },
      };
    }
    if (child.exitCode !== null) throw new Error(`nats-server exited with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A node of a rendezvous in a process of its own, which can be killed and started again on the same port. */
export class RendezvousNode {
  readonly #natsUrl: string;
  #child: ChildProcess | undefined;
  #port = 0;

  /** @param natsUrl empty for a single node */
  constructor(natsUrl: string) {
    this.#natsUrl = natsUrl;
  }

  get port(): number {
    return this.#port;
  }

  get isUp(): boolean {
    return this.#child !== undefined;
  }

  /** Resolves when the node listens and has joined the others. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [CHILD, String(this.#port), this.#natsUrl], {
      // The child ends when its stdin ends, which it also does when this process is killed.
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`a node exited with ${code}`))),
    ])) as [string];
    this.#port = Number(new URL(line).port);
    this.#child = child;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) await kill(child);
  }
}

const isInstalled = (program: string): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
