import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto";

/** Bytes of a key, private or public. */
export const X25519_BYTES = 32;

/** A key pair of X25519. */
export interface X25519KeyPair {
  publicKey: Buffer;
  /** Returns the shared secret with a public key. @throws Error for a low-order key */
  agree(publicKey: Uint8Array): Buffer;
}

/** Creates a new pair, or the pair of 32 private bytes. */
export function createX25519(privateBytes?: Uint8Array): X25519KeyPair {
  const privateKey =
    privateBytes === undefined
      ? generateKeyPairSync("x25519").privateKey
      : createPrivateKey({ key: Buffer.concat([PKCS8_START, privateBytes]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return {
    publicKey: spki.subarray(SPKI_START.length),
    agree: (publicKey) => diffieHellman({ privateKey, publicKey: importPublicKey(publicKey) }),
  };
}

function importPublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_START, publicKey]), format: "der", type: "spki" });
}

/** DER prefixes of raw keys (RFC 8410). */
const PKCS8_START = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI_START = Buffer.from("302a300506032b656e032100", "hex");
