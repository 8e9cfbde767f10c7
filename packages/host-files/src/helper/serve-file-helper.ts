import type { Readable, Writable } from "node:stream";
import type { ConnectionFileSystem } from "../connection-file-system.js";
import { toRpcError } from "../errors.js";
import { createFileSystem } from "../file-system.js";
import type { FileSystemLimits } from "../limits.js";
import { type CallHeader, packResult, type ResponseHeader, unpackParams } from "../sandboxed/calls.js";
import { encodeFrame, type Frame, FrameReader } from "../sandboxed/frames.js";

/** Largest body that a helper accepts, bytes: more than a client can send. */
const MAX_BODY_BYTES = 0xffff_ffff;

/**
 * Makes file calls in this process, which runs inside a sandbox, for a server that runs outside. Resolves when `input` ends,
 * after unfinished calls are undone.
 */
export async function serveFileHelper({ input, output }: { input: Readable; output: Writable }): Promise<void> {
  const reader = new FrameReader(MAX_BODY_BYTES);
  let files: ConnectionFileSystem | undefined;
  output.on("error", () => input.destroy()); // nothing reads the responses
  try {
    for await (const bytes of input) {
      for (const frame of reader.push(bytes as Buffer)) {
        if (files === undefined) files = openFiles(frame);
        else void answer(files, frame, output);
      }
    }
  } catch {
    // The server is gone.
  } finally {
    await files?.dispose();
  }
}

const openFiles = ({ header }: Frame): ConnectionFileSystem =>
  createFileSystem({ limits: header as FileSystemLimits }).createConnectionFileSystem({ onMissingChanged: () => {} });

async function answer(files: ConnectionFileSystem, { header, body }: Frame, output: Writable): Promise<void> {
  const { id, method, params } = header as CallHeader;
  let pieces: Uint8Array[];
  try {
    // The caller is the same program, so the params have the right type.
    const call = files[method] as (params: unknown) => Promise<unknown>;
    const { value, bytes } = packResult(method, await call(unpackParams(method, { value: params, bytes: body })));
    pieces = encodeFrame({ id, result: value } satisfies ResponseHeader, bytes);
  } catch (error) {
    const { code, message } = toRpcError(error);
    pieces = encodeFrame({ id, error: { code, message } } satisfies ResponseHeader, undefined);
  }
  output.cork();
  for (const piece of pieces) output.write(piece);
  output.uncork();
}
