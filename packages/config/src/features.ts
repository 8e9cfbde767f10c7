import { FEATURE_ROWS } from "./restrictions/feature-rows.js";

/** The first of these names that is no feature of Codex 0.169.0. */
export const findUnknownFeature = (names: readonly string[]): string | undefined =>
  names.find((name) => !FEATURE_ROWS.some(({ key }) => key === `features.${name}`));
