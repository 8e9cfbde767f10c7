import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** The exec-server that is brought to hosts which lack it. Handed in by who has it. */
export interface ServerBundle {
  /** Name of its directory on the remote side: differs with each version and content. Letters, digits, `.`, `-` and `_`. */
  readonly id: string;
  /** Its files for a host. `codex.js` is run as `codex.js exec-server --attach`. @throws Error when it has none for it */
  listFiles(target: BundleTarget): Promise<BundleFiles>;
}

/** The files of a bundle for one host. */
export interface BundleFiles {
  readonly files: readonly BundleFile[];
  /** What it cannot do there, for a person; absent when it can do everything. */
  readonly lacks?: string;
}

/** A host that lacks the server, by the names of Node. */
export interface BundleTarget {
  /** As `process.platform`. */
  readonly platform: string;
  /** As `process.arch`. */
  readonly arch: string;
  /** The C library of a Linux host. */
  readonly libc: "glibc" | "musl" | "other";
}

/** One file of a bundle. */
export interface BundleFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A bundle as it is sent. */
export interface PackedBundle {
  /** A line of JSON: how many bytes follow, and their SHA-256. */
  readonly head: string;
  readonly body: Buffer;
}

/** Compresses a list of the files and what is in them, one after the other. */
export async function packBundle(files: readonly BundleFile[]): Promise<PackedBundle> {
  const list = Buffer.from(JSON.stringify(files.map(({ path, bytes }) => ({ path, bytes: bytes.length }))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const body = await promisify(gzip)(Buffer.concat([length, list, ...files.map(({ bytes }) => bytes)]), { level: 9 });
  const sha256 = createHash("sha256").update(body).digest("hex");
  return { head: `${JSON.stringify({ bytes: body.length, sha256 })}\n`, body };
}
