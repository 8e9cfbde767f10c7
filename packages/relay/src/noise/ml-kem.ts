import crypto, { type KeyObject } from "node:crypto";

/** ML-KEM-768 (FIPS 203), in bytes. */
export const ML_KEM = { publicKey: 1184, ciphertext: 1088, seed: 64 } as const;

/** A key pair of ML-KEM-768. */
export interface MlKemKeyPair {
  publicKey: Uint8Array;
  /** Returns the secret of a ciphertext. An invalid ciphertext yields a different secret, not an error. */
  decapsulate(ciphertext: Uint8Array): Uint8Array;
}

/** An implementation of ML-KEM-768. */
export interface MlKem {
  /** Creates a new pair, or the pair of a 64-byte seed (d, z). */
  createKeyPair(seed?: Uint8Array): MlKemKeyPair;
  /** Creates a secret and its ciphertext for the holder of the private key. @throws Error for an invalid key */
  encapsulate(publicKey: Uint8Array): { ciphertext: Uint8Array; secret: Uint8Array };
}

/** Node's implementation (from 24.7), else that of `@noble/post-quantum`, loaded on the first call. */
export async function loadMlKem(): Promise<MlKem> {
  return isInNode(crypto) ? createNodeMlKem(crypto) : await loadNobleMlKem();
}

/** The JavaScript implementation. `random` returns the 32 bytes of an encapsulation; for tests. */
export async function loadNobleMlKem(random?: () => Uint8Array): Promise<MlKem> {
  const { ml_kem768 } = await import("@noble/post-quantum/ml-kem.js");
  return {
    createKeyPair: (seed) => {
      const { publicKey, secretKey } = ml_kem768.keygen(seed);
      return { publicKey, decapsulate: (ciphertext) => ml_kem768.decapsulate(ciphertext, secretKey) };
    },
    encapsulate: (publicKey) => {
      const { cipherText, sharedSecret } = ml_kem768.encapsulate(publicKey, random?.());
      return { ciphertext: cipherText, secret: sharedSecret };
    },
  };
}

/** Functions of Node 24.7 and newer, which the types of Node 20 lack. */
interface MlKemCrypto {
  encapsulate(key: KeyObject): { sharedKey: Uint8Array; ciphertext: Uint8Array };
  decapsulate(key: KeyObject, ciphertext: Uint8Array): Uint8Array;
}

const isInNode = (module: object): module is MlKemCrypto => "encapsulate" in module && "decapsulate" in module;

function createNodeMlKem({ encapsulate, decapsulate }: MlKemCrypto): MlKem {
  return {
    createKeyPair: (seed = crypto.randomBytes(ML_KEM.seed)) => {
      const pkcs8 = Buffer.concat([PKCS8_START, seed]);
      const privateKey = crypto.createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
      const spki = crypto.createPublicKey(privateKey).export({ format: "der", type: "spki" });
      return {
        publicKey: spki.subarray(SPKI_START.length),
        decapsulate: (ciphertext) => decapsulate(privateKey, ciphertext),
      };
    },
    encapsulate: (publicKey) => {
      const spki = Buffer.concat([SPKI_START, publicKey]);
      const { sharedKey, ciphertext } = encapsulate(crypto.createPublicKey({ key: spki, format: "der", type: "spki" }));
      return { ciphertext, secret: sharedKey };
    },
  };
}

/** DER prefixes of the seed and of the raw public key (RFC 9935). */
const PKCS8_START = Buffer.from("3054020100300b060960864801650304040204428040", "hex");
const SPKI_START = Buffer.from("308204b2300b0609608648016503040402038204a100", "hex");
