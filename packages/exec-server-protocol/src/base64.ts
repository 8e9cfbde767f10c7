/** Standard base64 with padding as bytes, or what is wrong with it. `offset` counts bytes of the text. */
export type DecodedBase64 = { kind: "ok"; bytes: Buffer } | { kind: "invalid"; problem: string };

/** Strict: no blanks, no URL alphabet, padding where it belongs, no bits left over. */
export function decodeBase64(text: string): DecodedBase64 {
  const bytes = Buffer.from(text, "base64");
  // Node ignores invalid characters; only valid base64 survives a round trip.
  if (bytes.toString("base64") === text) return { kind: "ok", bytes };
  return { kind: "invalid", problem: findProblem(Buffer.from(text)) };
}

const PAD = 0x3d;

function findProblem(text: Buffer): string {
  const symbols = text.findIndex((byte) => !isSymbol(byte));
  const length = symbols === -1 ? text.length : symbols;
  const rest = text.subarray(length);
  const wrong = rest.findIndex((byte) => byte !== PAD);
  if (wrong !== -1) {
    const offset = rest[0] === PAD ? length : length + wrong;
    return `Invalid symbol ${text[offset]}, offset ${offset}.`;
  }
  if (length % 4 === 1)
    return rest.length > 0 ? `Invalid symbol ${PAD}, offset ${length}.` : `Invalid input length: ${length}`;
  const padding = (4 - (length % 4)) % 4;
  if (rest.length > padding) return `Invalid symbol ${PAD}, offset ${length}.`;
  if (rest.length < padding) return "Invalid padding";
  return `Invalid last symbol ${text[length - 1]}, offset ${length - 1}.`;
}

const isSymbol = (byte: number): boolean =>
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x2b ||
  byte === 0x2f;
