import { connect, type NetConnectOpts, type Socket } from "node:net";
import { createSlabReads } from "../reads/slab-reads.js";

/** Connects like `net.connect`, with larger reads in a flood. */
export function connectWire(options: NetConnectOpts): Socket {
  const socket: Socket = connect({ ...options, onread: createSlabReads(() => socket) });
  return socket;
}
