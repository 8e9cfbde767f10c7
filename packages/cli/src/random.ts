import { closeSync, openSync, readSync } from "node:fs";

/** The members of `node:crypto` that only need random bytes. */
export interface RandomSource {
  randomBytes(size: number): Buffer;
  /** An integer from `min` to `max`, exclusive, which are less than 2^48 apart. */
  randomInt(min: number, max: number): number;
  randomUUID(): string;
}

/** Number of values of 6 random bytes. */
const VALUES = 2 ** 48;

/**
 * Random numbers from the kernel. `node:crypto` takes milliseconds to load, because of keys and certificates.
 * @param device source of random bytes; if it cannot be read, `node:crypto` supplies them
 */
export function createRandomSource(device = "/dev/urandom"): RandomSource {
  const randomBytes = (size: number): Buffer => {
    const bytes = Buffer.alloc(size);
    return isFilled(bytes, device) ? bytes : process.getBuiltinModule("node:crypto").randomBytes(size);
  };
  return {
    randomBytes,
    randomInt(min, max) {
      const range = max - min;
      const unbiased = VALUES - (VALUES % range);
      for (;;) {
        const value = randomBytes(6).readUIntBE(0, 6);
        if (value < unbiased) return min + (value % range);
      }
    },
    randomUUID() {
      const bytes = randomBytes(16);
      bytes[6] = (bytes[6]! & 0x0f) | 0x40; // version 4
      bytes[8] = (bytes[8]! & 0x3f) | 0x80; // the variant of RFC 9562
      return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    },
  };
}

function isFilled(bytes: Buffer, device: string): boolean {
  try {
    const file = openSync(device, "r");
    try {
      return readSync(file, bytes) === bytes.length;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
