import { EncodedResponse } from "@codex/channel";
import { encodeBytesResult, encodeJsonResult, fsDecoders, METHODS } from "@codex/exec-server-protocol";
import type { ConnectionFileSystem } from "./connection-file-system.js";
import type { ReserveBytes } from "./operations/read-file.js";

/** A request with decoded params: runs on the files of the connection and resolves with the result. */
export type FileRequest = (files: ConnectionFileSystem, reserve?: ReserveBytes) => Promise<unknown>;

/** Decoders of the `fs/*` requests by method. Each throws RpcError for bad params; the returned request rejects with RpcError. */
export const FS_REQUESTS: ReadonlyMap<string, (params: unknown) => FileRequest> = new Map([
  [
    METHODS.fsReadFile,
    request(fsDecoders.readFile, async (files, params, reserve) =>
      bytesResult("dataBase64", await files.readFile(params, reserve)),
    ),
  ],
  [METHODS.fsWriteFile, request(fsDecoders.writeFile, (files, params) => done(files.writeFile(params)))],
  [
    METHODS.fsCreateDirectory,
    request(fsDecoders.createDirectory, (files, params) => done(files.createDirectory(params))),
  ],
  [METHODS.fsGetMetadata, request(fsDecoders.getMetadata, (files, params) => files.getMetadata(params))],
  [METHODS.fsCanonicalize, request(fsDecoders.canonicalize, (files, params) => files.canonicalize(params))],
  [
    METHODS.fsReadDirectory,
    request(fsDecoders.readDirectory, async (files, params, reserve) =>
      jsonResult(await files.readDirectory(params, reserve)),
    ),
  ],
  [METHODS.fsWalk, request(fsDecoders.walk, (files, params) => files.walk(params))],
  [METHODS.fsRemove, request(fsDecoders.remove, (files, params) => done(files.remove(params)))],
  [METHODS.fsCopy, request(fsDecoders.copy, (files, params) => done(files.copy(params)))],
  [
    METHODS.fsOpen,
    request(fsDecoders.open, async (files, params) => {
      await files.open(params);
      return { handleId: params.handleId };
    }),
  ],
  [
    METHODS.fsReadBlock,
    request(fsDecoders.readBlock, async (files, params) => {
      const { bytes, eof } = await files.readBlock(params);
      return bytesResult("chunk", bytes, { eof });
    }),
  ],
  [METHODS.fsWriteBlock, request(fsDecoders.writeBlock, (files, params) => done(files.writeBlock(params)))],
  [METHODS.fsClose, request(fsDecoders.close, (files, params) => done(files.close(params)))],
  [METHODS.fsWatchMissing, request(fsDecoders.watchMissing, (files, params) => files.watchMissing(params))],
]);

function request<Params>(
  decode: (params: unknown) => Params,
  run: (files: ConnectionFileSystem, params: Params, reserve?: ReserveBytes) => Promise<unknown>,
): (params: unknown) => FileRequest {
  return (params) => {
    const decoded = decode(params);
    return (files, reserve) => run(files, decoded, reserve);
  };
}

const done = async (work: Promise<void>): Promise<Record<string, never>> => {
  await work;
  return {};
};

/** Encoded without a string in between: base64 of a large file exceeds the maximum length of a string. */
const bytesResult = (member: string, bytes: Buffer, rest?: Record<string, unknown>): EncodedResponse =>
  new EncodedResponse((id) => encodeBytesResult(id, member, bytes, rest));

/** Encoded already and bounded by a limit, so it is not checked again as a message of a peer would be. */
const jsonResult = (json: Buffer): EncodedResponse => new EncodedResponse((id) => encodeJsonResult(id, json));
