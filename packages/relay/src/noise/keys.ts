import { createHash } from "node:crypto";
import * as z from "zod/mini";
import { ML_KEM, type MlKem, type MlKemKeyPair } from "./ml-kem.js";
import { createX25519, X25519_BYTES, type X25519KeyPair } from "./x25519.js";

/** Name of the pair of algorithms in registry messages. */
export const KEY_SUITE = "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256";

/** The public identity of an end of a stream. */
export interface NoisePublicKey {
  /** 32 bytes. */
  x25519: Uint8Array;
  /** 1184 bytes. */
  mlkem768: Uint8Array;
}

/** Both private keys of an end. They never leave the process, and live as long as it. */
export interface NoiseIdentity {
  x25519: X25519KeyPair;
  mlkem768: MlKemKeyPair;
  publicKey: NoisePublicKey;
}

/** Private keys as bytes. */
export interface NoiseSecrets {
  /** 32 bytes. */
  x25519: Uint8Array;
  /** 64 bytes: d and z of FIPS 203. */
  mlkem768Seed: Uint8Array;
}

/** New keys, or those of the secrets. */
export function createIdentity(mlKem: MlKem, secrets?: NoiseSecrets): NoiseIdentity {
  const x25519 = createX25519(secrets?.x25519);
  const mlkem768 = mlKem.createKeyPair(secrets?.mlkem768Seed);
  return { x25519, mlkem768, publicKey: { x25519: x25519.publicKey, mlkem768: mlkem768.publicKey } };
}

const base64Of = (bytes: number) =>
  z.pipe(
    z.string().check(z.maxLength(4 * Math.ceil(bytes / 3))),
    z.transform((text, context) => {
      const key = Buffer.from(text, "base64");
      if (key.length === bytes && key.toString("base64") === text) return new Uint8Array(key);
      context.issues.push({ code: "custom", message: `not ${bytes} bytes in base64`, input: "" });
      return z.NEVER;
    }),
  );

/** Parses a public key in a registry message. */
export const publicKeySchema = z.pipe(
  z.object({
    suite: z.literal(KEY_SUITE),
    x25519_public_key: base64Of(X25519_BYTES),
    mlkem768_public_key: base64Of(ML_KEM.publicKey),
  }),
  z.transform(({ x25519_public_key, mlkem768_public_key }): NoisePublicKey => {
    return { x25519: x25519_public_key, mlkem768: mlkem768_public_key };
  }),
);

/** Renders a public key for a registry message. */
export function encodePublicKey({ x25519, mlkem768 }: NoisePublicKey) {
  return {
    suite: KEY_SUITE,
    x25519_public_key: Buffer.from(x25519).toString("base64"),
    mlkem768_public_key: Buffer.from(mlkem768).toString("base64"),
  };
}

/** The fingerprint that users compare: `SHA256:` and the digest of both keys in base64 without padding. */
export function fingerprintOf({ x25519, mlkem768 }: NoisePublicKey): string {
  const digest = createHash("sha256").update(x25519).update(mlkem768).digest("base64");
  return `SHA256:${digest.replace(/(?<!=)=+$/, "")}`;
}
