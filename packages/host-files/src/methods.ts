import { EncodedResponse } from "@codex/channel";
import {
  decodeCanonicalize,
  decodeClose,
  decodeCopy,
  decodeCreateDirectory,
  decodeGetMetadata,
  decodeOpen,
  decodeReadBlock,
  decodeReadDirectory,
  decodeReadFile,
  decodeRemove,
  decodeWalk,
  decodeWatchMissing,
  decodeWriteBlock,
  decodeWriteFile,
  encodeBytesResult,
  encodeJsonResult,
  METHODS,
} from "@codex/exec-server-protocol";
import type { ConnectionFileSystem } from "./connection-file-system.js";
import type { ReserveBytes } from "./operations/read-file.js";

/** A request whose params are decoded: runs on the files of the connection and gives the result to answer with. */
export type FileRequest = (files: ConnectionFileSystem, reserve?: ReserveBytes) => Promise<unknown>;

/** The `fs/*` requests by name. A function throws RpcError for bad params; what it returns rejects with RpcError. */
export const FS_REQUESTS: ReadonlyMap<string, (params: unknown) => FileRequest> = new Map([
  [
    METHODS.fsReadFile,
    request(decodeReadFile, async (files, params, reserve) =>
      bytesResult("dataBase64", await files.readFile(params, reserve)),
    ),
  ],
  [METHODS.fsWriteFile, request(decodeWriteFile, (files, params) => done(files.writeFile(params)))],
  [METHODS.fsCreateDirectory, request(decodeCreateDirectory, (files, params) => done(files.createDirectory(params)))],
  [METHODS.fsGetMetadata, request(decodeGetMetadata, (files, params) => files.getMetadata(params))],
  [METHODS.fsCanonicalize, request(decodeCanonicalize, (files, params) => files.canonicalize(params))],
  [
    METHODS.fsReadDirectory,
    request(decodeReadDirectory, async (files, params) => jsonResult(await files.readDirectory(params))),
  ],
  [METHODS.fsWalk, request(decodeWalk, (files, params) => files.walk(params))],
  [METHODS.fsRemove, request(decodeRemove, (files, params) => done(files.remove(params)))],
  [METHODS.fsCopy, request(decodeCopy, (files, params) => done(files.copy(params)))],
  [
    METHODS.fsOpen,
    request(decodeOpen, async (files, params) => {
      await files.open(params);
      return { handleId: params.handleId };
    }),
  ],
  [
    METHODS.fsReadBlock,
    request(decodeReadBlock, async (files, params) => {
      const { bytes, eof } = await files.readBlock(params);
      return bytesResult("chunk", bytes, { eof });
    }),
  ],
  [METHODS.fsWriteBlock, request(decodeWriteBlock, (files, params) => done(files.writeBlock(params)))],
  [METHODS.fsClose, request(decodeClose, (files, params) => done(files.close(params)))],
  [METHODS.fsWatchMissing, request(decodeWatchMissing, (files, params) => files.watchMissing(params))],
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

/** Base64 of much is never made into a string: it would be longer than strings can be. */
const bytesResult = (member: string, bytes: Buffer, rest?: Record<string, unknown>): EncodedResponse =>
  new EncodedResponse((id) => encodeBytesResult(id, member, bytes, rest));

/** A list is of our own making, and as long as its limit allows: what a peer might send is not looked for in it. */
const jsonResult = (json: Buffer): EncodedResponse => new EncodedResponse((id) => encodeJsonResult(id, json));
