import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { createSlabReads } from "./slab-reads.js";

/** The newest version of Node whose sockets were checked to have these parts with this meaning. */
const LAST_CHECKED_NODE = 24;

/** What the public option `onread` of `net.Socket` sets, by the names that Node gives its symbols. */
const PARTS = ["kBuffer", "kBufferCb", "kBufferGen"] as const;

interface Handle {
  useUserBuffer(memory: Uint8Array): void;
}

/**
 * Gives a pipe or unix socket that is open already, as the stdout of a child process is, what `net.connect` gives with `onread`.
 * Node has no public way (https://github.com/nodejs/node/issues/45800). Without effect where Node's private parts for it are not
 * found, on later versions of Node, in other runtimes, and for other streams: reads have 64 KiB there.
 */
export function enlargeReads(input: Readable): void {
  const handle = pipeOf(input);
  if (handle === undefined || !isCheckedRuntime()) return;
  const socket = input as Socket & Record<symbol, unknown>;
  const symbols = Object.getOwnPropertySymbols(socket);
  const [buffer, callback, generator] = PARTS.map((name) => symbols.find(({ description }) => description === name));
  if (buffer === undefined || callback === undefined || generator === undefined) return;
  // Somebody else's `onread`, or ours.
  if (socket[buffer] !== null) return;
  const reads = createSlabReads(() => socket);
  const memory = reads.buffer();
  socket[buffer] = memory;
  socket[callback] = reads.callback;
  socket[generator] = reads.buffer;
  handle.useUserBuffer(memory);
}

function pipeOf(input: Readable): Handle | undefined {
  if (!(input instanceof Socket)) return undefined;
  const { _handle: handle } = input as { _handle?: Partial<Handle> | null };
  const isPipe = handle?.constructor.name === "Pipe" && typeof handle.useUserBuffer === "function";
  return isPipe ? (handle as Handle) : undefined;
}

function isCheckedRuntime(): boolean {
  const { node, bun, deno } = process.versions;
  return bun === undefined && deno === undefined && Number.parseInt(node, 10) <= LAST_CHECKED_NODE;
}
