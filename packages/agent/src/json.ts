/** A JSON object whose members are not known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or undefined for anything else, lists included. */
export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The value where it is text. */
export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The value where it is a number of things that can be counted exactly, also in sums of many. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 1e12 ? value : undefined;

/** The JSON value of a text; undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
