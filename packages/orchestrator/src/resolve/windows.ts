import type { Config } from "../config.js";
import type { WindowBounds } from "../limits.js";

/** A number within its bounds, with a notice for the model if it requested another one. */
export interface Bounded {
  value: number;
  notice: string | undefined;
}

/** Yield window of a first poll, milliseconds. */
export const execWindow = (asked: number | undefined, bounds: WindowBounds): Bounded =>
  clamp("yield_time_ms", asked, bounds.execDefaultMs, bounds.execMinMs, bounds.execMaxMs, "ms");

/** Yield window of a write: one that only waits has longer bounds. */
export const writeWindow = (asked: number | undefined, onlyWaits: boolean, bounds: WindowBounds): Bounded =>
  onlyWaits
    ? clamp("yield_time_ms", asked, bounds.writeDefaultMs, bounds.pollMinMs, bounds.pollMaxMs, "ms")
    : clamp("yield_time_ms", asked, bounds.writeDefaultMs, bounds.writeMinMs, bounds.writeMaxMs, "ms");

/** The configuration for a call that may wait `maxMs` at most. */
export function boundWindows(config: Config, maxMs: number | undefined): Config {
  if (maxMs === undefined) return config;
  const windows = Object.fromEntries(Object.entries(config.windows).map(([name, ms]) => [name, Math.min(ms, maxMs)]));
  return { ...config, windows: { ...config.windows, ...windows } };
}

/** Budget of a result, tokens of 4 bytes. */
export const outputBudget = (asked: number | undefined, config: Config): Bounded =>
  clamp("max_output_tokens", asked, config.maxOutputTokens, 0, config.maxOutputTokensCap, "tokens");

/** A default is clamped without a notice: the model did not request it. */
function clamp(
  name: string,
  asked: number | undefined,
  fallback: number,
  min: number,
  max: number,
  unit: string,
): Bounded {
  const wanted = Math.round(asked ?? fallback);
  const value = Math.min(Math.max(wanted, min), max);
  const changed = asked !== undefined && value !== wanted;
  const notice = `${name} ${wanted} ${unit} is outside ${min}–${max} ${unit}; ${value} ${unit} was used`;
  return { value, notice: changed ? notice : undefined };
}
