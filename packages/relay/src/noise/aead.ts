import { createCipheriv, createDecipheriv } from "node:crypto";

/** Bytes of the authentication tag after a ciphertext. */
export const TAG_BYTES = 16;

const NOTHING = Buffer.alloc(0);

/** AES-256-GCM with the nonce of Noise: four zero bytes and a 64-bit counter. */
export function seal(key: Buffer, counter: number, plaintext: Uint8Array, associated: Uint8Array = NOTHING): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(counter));
  if (associated.length > 0) cipher.setAAD(associated);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** The same for a plaintext in parts: returns a ciphertext for each, then the tag. All are new buffers, owned by the caller. */
export function sealParts(key: Buffer, counter: number, plaintext: readonly Uint8Array[]): Buffer[] {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(counter));
  const sealed = plaintext.map((part) => cipher.update(part));
  // `final` returns no bytes: GCM has no padding.
  cipher.final();
  sealed.push(cipher.getAuthTag());
  return sealed;
}

/** @throws Error if it was not sealed with this key, counter and associated data */
export function open(key: Buffer, counter: number, sealed: Uint8Array, associated: Uint8Array = NOTHING): Buffer {
  const at = sealed.length - TAG_BYTES;
  if (at < 0) throw new Error(`${sealed.length} bytes are shorter than a tag`);
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(counter), { authTagLength: TAG_BYTES });
  if (associated.length > 0) decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(at));
  // `final` returns no bytes: GCM has no padding.
  const plaintext = decipher.update(sealed.subarray(0, at));
  decipher.final();
  return plaintext;
}

function nonceOf(counter: number): Buffer {
  // From the shared pool of small buffers: a separate allocation would take longer than the writes.
  const nonce = Buffer.allocUnsafe(12);
  nonce.writeUInt32BE(0, 0);
  nonce.writeUInt32BE(Math.floor(counter / 2 ** 32), 4);
  nonce.writeUInt32BE(counter >>> 0, 8);
  return nonce;
}
