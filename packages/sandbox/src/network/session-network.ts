import { type ChildProcess, spawn } from "node:child_process";
import type { Socket as DatagramSocket } from "node:dgram";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Server } from "node:net";
import { StartError } from "@codex/exec-backend";
import { MAX_HOLDER_ERROR_BYTES, NETWORK_DEADLINE_MS } from "../limits.js";
import { HOLDER } from "./holder.js";
import type { PortNetwork } from "./port-network.js";
import { PROXY_PORT } from "./proxy-port.js";

/**
 * A network for the commands of one session: a loopback that they share, and nothing else. No process holds it, so it ends with this one, and what listens
 * there belongs to this process. Linux.
 */
export interface NamespaceNetwork {
  readonly kind: "namespace";
  /** Listens at `PROXY_PORT`. */
  readonly proxy: Server;
  /** For connections to the addresses that the DNS gives, in the order of `places`. */
  readonly direct: readonly Server[];
  /** Port 53 of 127.0.0.1. */
  readonly dns: DatagramSocket;
  /** What `enter` needs. */
  readonly descriptors: readonly number[];
  /** Programs that `enter` starts before the given one. */
  readonly wrappers: number;
  /**
   * What starts a program in it, given `descriptors` from number `first` on. The program gets those above 9, with which it
   * could do nothing.
   */
  enter(first: number, argv: readonly string[]): readonly string[];
  /** Nothing of it is reached any more. Idempotent. */
  close(): void;
}

/** What commands have in place of the network of their host. */
export type SessionNetwork = NamespaceNetwork | PortNetwork;

/** How `openSessionNetwork` makes a network, and what listens there. */
export interface SessionNetworkOptions {
  /** Paths of the programs that make it, and that enter it. */
  bubblewrap: string;
  nsenter: string;
  shell: string;
  places: readonly NetworkPlace[];
}

/** Where programs reach hosts by their names, without a proxy: at one address of the loopback, or at all. */
export interface NetworkPlace {
  address?: string;
  /** Commands cannot listen there themselves. */
  port: number;
}

/** @throws StartError `sandbox_unavailable` where the host allows no network namespaces; `os_error` */
export async function openSessionNetwork({
  bubblewrap,
  nsenter,
  shell,
  places,
}: SessionNetworkOptions): Promise<NamespaceNetwork> {
  const isRoot = process.getuid?.() === 0;
  const holder = startHolder(bubblewrap, isRoot, [{ port: PROXY_PORT }, ...places]);
  const opened: Server[] = [];
  const fds: number[] = [];
  let dns: DatagramSocket | undefined;
  const close = () => {
    for (const server of opened.splice(0)) server.close();
    dns?.close();
    dns = undefined;
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    const pid = await new Promise<number>((resolve, reject) => {
      holder.onMessage = ({ place, problem, pid }, handle) => {
        if (problem !== undefined) reject(new Error(problem));
        else if (pid !== undefined) resolve(pid);
        else if (place === undefined) dns = handle as DatagramSocket;
        else opened[place] = asHalfOpen(handle as Server);
      };
      holder.ended.then(reject, reject);
    });
    // The namespaces live as long as these.
    for (const name of isRoot ? ["net"] : ["net", "user"]) fds.push(openSync(`/proc/${pid}/ns/${name}`, "r"));
  } catch (cause) {
    close();
    throw new StartError(
      "sandbox_unavailable",
      `no network of its own can be made here for commands: ${textOf(cause)}`,
      { cause },
    );
  } finally {
    await holder.end();
  }
  return {
    kind: "namespace",
    proxy: opened[0]!,
    direct: opened.slice(1),
    dns: dns!,
    descriptors: fds,
    wrappers: 2,
    enter(first, argv) {
      const user = isRoot ? [] : [`--user=/proc/self/fd/${first + 1}`, "--preserve-credentials"];
      const numbers = fds.map((_, at) => first + at).filter((number) => number <= 9); // others are none to a shell
      const closing = numbers.map((number) => `${number}<&-`).join(" ");
      return [nsenter, `--net=/proc/self/fd/${first}`, ...user, shell, "-c", `exec "$@" ${closing}`, "sh", ...argv];
    },
    close,
  };
}

const EVERY_ADDRESS = "0.0.0.0";

interface HolderMessage {
  place?: number;
  problem?: string;
  pid?: number;
}

/** The program that opens the sockets; bubblewrap makes its namespaces and brings its loopback up. */
function startHolder(bubblewrap: string, isRoot: boolean, places: readonly NetworkPlace[]) {
  const listened = places.map(({ address = EVERY_ADDRESS, port }) => [address, port]);
  const namespaces = [...(isRoot ? [] : ["--unshare-user"]), "--unshare-net", "--die-with-parent"];
  const args = [...namespaces, "--dev-bind", "/", "/", "--cap-add", "CAP_NET_BIND_SERVICE", "--"];
  const child: ChildProcess = spawn(bubblewrap, [...args, process.execPath, "-e", HOLDER, JSON.stringify(listened)], {
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
