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
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(counter), 4);
  return nonce;
}
