import { createHash } from "node:crypto";
import * as z from "zod/mini";

/** Security profile of executors with Noise. */
export const SECURITY_PROFILE = "noise_hybrid_ik_v1";

const SUITE = "Noise_hybridIK_X25519+MLKEM768_AESGCM_SHA256";
const X25519_BYTES = 32;
const ML_KEM_BYTES = 1184;

/** Standard base64 with padding, of this number of bytes, in its canonical form. */
const base64Of = (bytes: number) =>
  z.string().check(
    z.refine((text) => {
      if (text.length !== Math.ceil(bytes / 3) * 4) return false;
      const decoded = Buffer.from(text, "base64");
      return decoded.length === bytes && decoded.toString("base64") === text;
    }),
  );

/** The public key of an executor or harness. */
export const publicKeySchema = z.object({
  suite: z.literal(SUITE),
  x25519_public_key: base64Of(X25519_BYTES),
  mlkem768_public_key: base64Of(ML_KEM_BYTES),
});

/** The public key of an executor or harness. */
export type PublicKey = z.output<typeof publicKeySchema>;

/** SHA-256 of a public key, base64url. */
export const hashKey = (key: PublicKey): string =>
  createHash("sha256")
    .update(key.suite)
    .update("\0")
    .update(Buffer.from(key.x25519_public_key, "base64"))
    .update(Buffer.from(key.mlkem768_public_key, "base64"))
    .digest("base64url");
