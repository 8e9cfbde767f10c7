import { connect, type NetConnectOpts, type Socket } from "node:net";
import { enlargeReads } from "../reads/enlarge-reads.js";

/** Connects like `net.connect`, with larger reads in a flood. */
export function connectWire(options: NetConnectOpts): Socket {
  const socket = connect(options);
  enlargeReads(socket);
  return socket;
}
