import { createHash, hkdfSync } from "node:crypto";
import { open, seal, TAG_BYTES } from "./aead.js";

const KEY_BYTES = 32;

/** Handshake hash and chaining key of Noise (section 5.2 of its specification). */
export class SymmetricState {
  #hash: Buffer;
  #chainingKey: Buffer;
  /** Undefined before the first secret is mixed in: until then nothing is encrypted. */
  #key: Buffer | undefined;
  #counter = 0;

  /** @param name name of the protocol; if it has at most 32 bytes, it is the initial hash itself */
  constructor(name: string) {
    const bytes = Buffer.from(name);
    const isShort = bytes.length <= KEY_BYTES;
    this.#hash = isShort ? Buffer.concat([bytes], KEY_BYTES) : createHash("sha256").update(bytes).digest();
    this.#chainingKey = this.#hash;
  }

  get hash(): Buffer {
    return this.#hash;
  }

  mixHash(data: Uint8Array): void {
    this.#hash = createHash("sha256").update(this.#hash).update(data).digest();
  }

  mixKey(secret: Uint8Array): void {
    const [chainingKey, key] = this.#derive(secret, 2);
    this.#chainingKey = chainingKey!;
    this.#setKey(key!);
  }

  mixKeyAndHash(secret: Uint8Array): void {
    const [chainingKey, hashed, key] = this.#derive(secret, 3);
    this.#chainingKey = chainingKey!;
    this.mixHash(hashed!);
    this.#setKey(key!);
  }

  encryptAndHash(plaintext: Uint8Array): Uint8Array {
    const sealed = this.#key === undefined ? plaintext : seal(this.#key, this.#counter++, plaintext, this.#hash);
    this.mixHash(sealed);
    return sealed;
  }

  /** @throws Error if the peer did not encrypt this at the same position of the same handshake */
  decryptAndHash(sealed: Uint8Array): Uint8Array {
    const plaintext = this.#key === undefined ? sealed : open(this.#key, this.#counter++, sealed, this.#hash);
    this.mixHash(sealed);
    return plaintext;
  }

  /** Bytes that encryption adds in the current state. */
  get overhead(): number {
    return this.#key === undefined ? 0 : TAG_BYTES;
  }

  /** Derives keys for use after the handshake: the first two are those of Noise. */
  split(count: number): Buffer[] {
    return this.#derive(new Uint8Array(0), count);
  }

  #derive(secret: Uint8Array, count: number): Buffer[] {
    const bytes = Buffer.from(hkdfSync("sha256", secret, this.#chainingKey, "", count * KEY_BYTES));
    return Array.from({ length: count }, (_, at) => bytes.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES));
  }

  #setKey(key: Buffer): void {
    this.#key = key;
    this.#counter = 0;
  }
}
