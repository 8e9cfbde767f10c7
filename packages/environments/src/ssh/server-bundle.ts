import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** The exec-server to install on hosts that lack it. Provided by the caller. */
export interface ServerBundle {
  /** Name of its directory on the remote side: differs with each version and content. Letters, digits, `.`, `-` and `_`. */
  readonly id: string;
  /** Hosts with files of their own; all others get the same. */
  readonly targets: readonly BundleTarget[];
  /** Its files for a host. `codex.js` is run as `codex.js exec-server --attach`. @throws Error if there are none for that host */
  listFiles(target: BundleTarget): Promise<BundleFiles>;
}

/** The files of a bundle for one host. */
export interface BundleFiles {
  readonly files: readonly BundleFile[];
  /** Features that are missing there, for display; absent if there are none. */
  readonly lacks?: string;
}

/** A host to install the server on, in Node's terms. */
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

/** A bundle ready to be sent. */
export interface PackedBundle {
  /** A line of JSON with the number of bytes that follow and their SHA-256. */
  readonly head: string;
  readonly body: Buffer;
}

/** Digests of everything that a host may have been given: what is installed there is run only if its digest is one of them. */
export async function listDigests(bundle: ServerBundle): Promise<string[]> {
  const others: BundleTarget = { platform: "other", arch: "other", libc: "other" };
  const found = await Promise.all(
    [...bundle.targets, others].map((target) =>
      bundle.listFiles(target).then(
        ({ files }) => [digestFiles(files)],
        () => [], // nothing is sent there either
      ),
    ),
  );
  return [...new Set(found.flat())];
}

/** SHA-256 of the names, sizes and contents, hex. The installer computes the same. */
function digestFiles(files: readonly BundleFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of files.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** Compresses a list of the files followed by their contents. */
export async function packBundle(files: readonly BundleFile[]): Promise<PackedBundle> {
  const list = Buffer.from(JSON.stringify(files.map(({ path, bytes }) => ({ path, bytes: bytes.length }))));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(list.length);
  const body = await promisify(gzip)(Buffer.concat([length, list, ...files.map(({ bytes }) => bytes)]), { level: 9 });
  const sha256 = createHash("sha256").update(body).digest("hex");
  return { head: `${JSON.stringify({ bytes: body.length, sha256 })}\n`, body };
}
