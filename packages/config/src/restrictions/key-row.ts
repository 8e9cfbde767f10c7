import type { TomlTable } from "@codex/toml";
import { isTable } from "../tables.js";

/**
 * A key of Codex 0.169.0 and what is done with it here. `*` in its name stands for any one name. A row also covers the keys below it
 * that have no row of their own. To support a key that restricts, change its row to `supported`.
 */
export type KeyRow = { readonly key: string } & (
  | { readonly effect: Effect; readonly here: "supported" }
  | {
      readonly effect: "restricts";
      readonly here: "refused";
      /** What would not hold; continues "it is not supported here: …". */
      readonly why: string;
      /** Whether this value restricts. Default: every value but an empty table or list. */
      readonly restricts?: (value: unknown, config: TomlTable) => boolean;
      /** What to write instead to go on without the restriction. Default: to remove the key. */
      readonly instead?: string;
    }
  | { readonly effect: "loosens" | "neutral"; readonly here: "ignored"; readonly why: string }
);

export type Effect = "restricts" | "loosens" | "neutral";

export const supported = (effect: Effect, ...keys: string[]): KeyRow[] =>
  keys.map((key) => ({ key, effect, here: "supported" }));

export const ignored = (effect: "loosens" | "neutral", why: string, ...keys: string[]): KeyRow[] =>
  keys.map((key) => ({ key, effect, here: "ignored", why }));

type Refused = Extract<KeyRow, { here: "refused" }>;

export const refused = (key: string, why: string, more: Pick<Refused, "restricts" | "instead"> = {}): KeyRow => ({
  key,
  effect: "restricts",
  here: "refused",
  why,
  ...more,
});

/** Whether a value turns something off. One of a wrong type, with which Codex does not start, may mean that. */
export const isOff = (value: unknown): boolean => value !== true;

/** Whether a value, or a table with `enabled`, turns a feature on, or may mean that. */
export const isOn = (value: unknown): boolean =>
  isTable(value) ? (value.enabled ?? false) !== false : value !== false;

export const isPresent = (): boolean => true;

/** Whether any value below is something else than an empty table or list. */
export function isFilled(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== "object" || value === null || value instanceof Date) return true;
  return Object.values(value).some(isFilled);
}
