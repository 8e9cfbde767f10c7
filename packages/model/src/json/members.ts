/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value if it is an object; undefined for anything else, including arrays. */
export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The value if it is a string. */
export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The value if it is a number from 0 to 1e12, so that sums stay exact. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 1e12 ? value : undefined;

/** Parses JSON; undefined when invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
