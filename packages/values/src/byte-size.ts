/** Bytes of a text such as `512`, `512M` or `1.5G`, of multiples of 1024; undefined for another, or less than 1 byte. */
export function parseByteSize(text: string): number | undefined {
  if (!/^\d{1,15}(?:\.\d{1,3})?[KMGT]?$/i.test(text)) return undefined;
  const bytes = Math.round(Number.parseFloat(text) * 1024 ** (UNITS.indexOf(text.slice(-1).toUpperCase()) + 1));
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

const UNITS = "KMGT";
