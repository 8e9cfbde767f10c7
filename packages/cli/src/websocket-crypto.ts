import { createHash as createNodeHash, randomBytes } from "node:crypto";

/**
 * The part of `node:crypto` that `ws` uses; the build replaces that module by this one, as loading it takes longer than a handshake. The only
 * hash is SHA-1 of RFC 6455, which shows that a peer speaks websocket and protects nothing.
 */
export { randomBytes };

/** Fills `size` bytes from `offset` with random ones. */
export function randomFillSync(buffer: Buffer, offset: number, size: number): Buffer {
  randomBytes(size).copy(buffer, offset);
  return buffer;
}

/** As in `node:crypto`, where SHA-1 takes one text of ASCII characters and is returned in base64. */
export function createHash(name: string) {
  if (name !== "sha1") return createNodeHash(name);
  let text = "";
  return {
    update(added: string) {
      text += added;
      return this;
    },
    digest: (encoding: "base64") => sha1(Buffer.from(text, "latin1")).toString(encoding),
  };
}

const BLOCK_BYTES = 64;

/** FIPS 180-4, 6.1. Exported for tests. */
export function sha1(message: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((message.length + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeBigUInt64BE(BigInt(message.length) * 8n, padded.length - 8);
  const hash = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0] as Hash;
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) addBlock(hash, padded.subarray(at, at + BLOCK_BYTES));
  const digest = Buffer.alloc(20);
  for (const [index, word] of hash.entries()) digest.writeUInt32BE(word >>> 0, index * 4);
  return digest;
}

type Hash = [number, number, number, number, number];

function addBlock(hash: Hash, block: Buffer): void {
  const words = new Int32Array(80);
  for (let t = 0; t < 16; t += 1) words[t] = block.readInt32BE(t * 4);
  for (let t = 16; t < 80; t += 1)
    words[t] = rotate(words[t - 3]! ^ words[t - 8]! ^ words[t - 14]! ^ words[t - 16]!, 1);
  let [a, b, c, d, e] = hash;
  for (let t = 0; t < 80; t += 1) {
    const next = (rotate(a, 5) + mix(t, b, c, d) + e + words[t]!) | 0;
    [e, d, c, b, a] = [d, c, rotate(b, 30), a, next];
  }
  for (const [index, word] of [a, b, c, d, e].entries()) hash[index] = (hash[index]! + word) | 0;
}

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** The function and the constant of a round. */
function mix(t: number, b: number, c: number, d: number): number {
  if (t < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (t < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}
