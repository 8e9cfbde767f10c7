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
  const { privateKey, publicKey } =
    privateBytes === undefined ? generateKeyPairSync("x25519") : importPair(privateBytes);
  return {
    publicKey: Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"),
    agree: (peer) => diffieHellman({ privateKey, publicKey: importPublicKey(peer) }),
  };
}

function importPair(privateBytes: Uint8Array): { privateKey: KeyObject; publicKey: KeyObject } {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_START, privateBytes]),
    format: "der",
    type: "pkcs8",
  });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** As a JWK (RFC 8037): OpenSSL takes ten times as long to decode DER. */
function importPublicKey(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.length).toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "X25519", x }, format: "jwk" });
}

/** DER prefix of a raw private key (RFC 8410). */
const PKCS8_START = Buffer.from("302e020100300506032b656e04220420", "hex");
