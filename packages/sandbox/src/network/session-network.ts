import { type ChildProcess, spawn } from "node:child_process";
import type { Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Server } from "node:net";
import { StartError } from "@codex/exec-backend";
import { MAX_HOLDER_ERROR_BYTES, NETWORK_DEADLINE_MS } from "../limits.js";
import { HOLDER } from "./holder.js";

/** Where the proxy of a session's network listens, at every loopback address. */
export const PROXY_PORT = 3128;

/**
 * A network for the commands of one session: a loopback that they share, and nothing else. No process holds it, so it ends with this one, and what listens
 * there belongs to this process. Linux.
 */
export interface SessionNetwork {
  /** Listens at `PROXY_PORT`. */
  readonly proxy: Server;
  /** By port: for connections to the addresses that the DNS gives. */
  readonly direct: ReadonlyMap<number, Server>;
  /** Port 53 of 127.0.0.1. */
  readonly dns: DatagramSocket;
  /** Starts a program in it: as the last arguments of this one, with these descriptors from number `first` on. */
  enter(first: number): { file: string; args: readonly string[]; descriptors: readonly number[] };
  /** Nothing of it is reached any more. Idempotent. */
  close(): void;
}

/** How `openSessionNetwork` makes a network, and what listens there. */
export interface SessionNetworkOptions {
  /** Paths of the programs that make it, and that enter it. */
  bubblewrap: string;
  nsenter: string;
  /** Ports at which programs reach hosts by their names, without a proxy. */
  ports: readonly number[];
}

/** @throws StartError `sandbox_unavailable` where the host allows no network namespaces; `os_error` */
export async function openSessionNetwork({
  bubblewrap,
  nsenter,
  ports,
}: SessionNetworkOptions): Promise<SessionNetwork> {
  const isRoot = process.getuid?.() === 0;
  const holder = startHolder(bubblewrap, isRoot, [PROXY_PORT, ...ports]);
  const opened = new Map<number, Server>();
  const fds: number[] = [];
  let dns: DatagramSocket | undefined;
  const close = () => {
    for (const server of opened.values()) server.close();
    opened.clear();
    dns?.close();
    dns = undefined;
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    const pid = await new Promise<number>((resolve, reject) => {
      holder.onMessage = ({ port, problem, pid }, handle) => {
        if (problem !== undefined) reject(new Error(`port ${port} cannot be used: ${problem}`));
        else if (pid !== undefined) resolve(pid);
        else if (port === undefined) dns = handle as DatagramSocket;
        else opened.set(port, asHalfOpen(handle as Server));
      };
      holder.ended.then(reject, reject);
    });
    // The namespaces live as long as these.
    for (const name of isRoot ? ["net"] : ["net", "user"]) fds.push(openSync(`/proc/${pid}/ns/${name}`, "r"));
  } catch (cause) {
    close();
    throw new StartError("sandbox_unavailable", `no network of its own can be made here: ${textOf(cause)}`, { cause });
  } finally {
    await holder.end();
  }
  const proxy = opened.get(PROXY_PORT)!;
  const direct = new Map(ports.map((port) => [port, opened.get(port)!]));
  return {
    proxy,
    direct,
    dns: dns!,
    enter(first) {
      const user = isRoot ? [] : [`--user=/proc/self/fd/${first + 1}`, "--preserve-credentials"];
      return { file: nsenter, args: [`--net=/proc/self/fd/${first}`, ...user, "--"], descriptors: [...fds] };
    },
    close,
  };
}

interface HolderMessage {
  port?: number;
  problem?: string;
  pid?: number;
}

/** The program that opens the sockets; bubblewrap makes its namespaces and brings its loopback up. */
function startHolder(bubblewrap: string, isRoot: boolean, ports: readonly number[]) {
  const namespaces = [...(isRoot ? [] : ["--unshare-user"]), "--unshare-net", "--die-with-parent"];
  const args = [...namespaces, "--dev-bind", "/", "/", "--cap-add", "CAP_NET_BIND_SERVICE", "--"];
  const child: ChildProcess = spawn(bubblewrap, [...args, process.execPath, "-e", HOLDER, JSON.stringify(ports)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {},
    timeout: NETWORK_DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  let errors = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    if (errors.length < MAX_HOLDER_ERROR_BYTES) errors += text;
  });
  const exited = once(child, "close");
  const holder = {
    onMessage: (_message: HolderMessage, _handle: unknown) => {},
    /** Rejects or resolves with why it ended. */
    ended: exited.then(([code, signal]) => new Error(errors.trim() || `it ended with ${code ?? signal}`)),
    async end() {
      if (child.connected) child.send("end", () => {});
      await exited.catch(() => {});
    },
  };
  child.on("message", (message: HolderMessage, handle) => holder.onMessage(message, handle));
  return holder;
}

/** A client may have sent all that it will, and still wait for the answer. */
const asHalfOpen = (server: Server): Server => Object.assign(server, { allowHalfOpen: true });

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
