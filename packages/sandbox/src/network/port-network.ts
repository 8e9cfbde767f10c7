import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { StartError } from "@codex/exec-backend";

/**
 * The network of one command where there are no namespaces: a port of this host's loopback, which is all that its sandbox opens to it. Programs that
 * do not use the proxy there reach nothing. macOS.
 */
export interface PortNetwork {
  readonly kind: "port";
  readonly proxy: Server;
  /** Where `proxy` listens, at 127.0.0.1. */
  readonly port: number;
  /** Nothing of it is reached any more. Idempotent. */
  close(): void;
}

/** @throws StartError `os_error` */
export async function openPortNetwork(): Promise<PortNetwork> {
  const proxy = createServer({ allowHalfOpen: true });
  try {
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
  } catch (cause) {
    throw new StartError("os_error", `no port for the network of the command can be opened: ${cause}`, { cause });
  }
  const { port } = proxy.address() as AddressInfo; // of a server that listens on TCP
  return { kind: "port", proxy, port, close: () => proxy.close() };
}
