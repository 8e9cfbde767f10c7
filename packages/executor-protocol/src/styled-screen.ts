import * as z from "zod/mini";
import { processOutcomeSchema } from "./outcome.js";
import { countSchema } from "./scalars.js";
import { terminalSizeSchema } from "./unified-exec-request.js";
import { byteRangeSchema } from "./unified-exec-result.js";

/** Index of the 256 colors of terminals, or `#rrggbb`. */
const colorSchema = z.union([z.int().check(z.minimum(0), z.maximum(255)), z.string().check(z.regex(/^#[0-9a-f]{6}$/))]);
const flagSchema = z.optional(z.boolean());

/** Neighboring characters of a row that have the same style and the same width. */
const styledRunSchema = z.object({
  text: z.string(),
  /** Columns that it takes. */
  cells: countSchema,
  /** Absent: the default color. */
  fg: z.optional(colorSchema),
  bg: z.optional(colorSchema),
  bold: flagSchema,
  dim: flagSchema,
  italic: flagSchema,
  underline: flagSchema,
  inverse: flagSchema,
  strikethrough: flagSchema,
});
/** Neighboring characters of a row that have the same style and the same width. */
export type StyledRun = z.infer<typeof styledRunSchema>;

/** The `structured` member of a `read_screen` call with `styled: true`: what a terminal shows, with colors. */
export const styledScreenSchema = z.object({
  sessionId: countSchema,
  size: terminalSizeSchema,
  /** Row and column count from 1. */
  cursor: z.object({ row: countSchema, col: countSchema, visible: z.boolean() }),
  /** As the program set it; empty when it did not. */
  title: z.string(),
  outcome: processOutcomeSchema,
  /** Output that was not retained: what it would have changed is missing. */
  gone: z.array(byteRangeSchema),
  /** From the first row on, without those at the end that show nothing; each from the first column on, likewise. */
  styledRows: z.array(z.array(styledRunSchema)),
});
/** What a terminal shows, with colors. */
export type StyledScreen = z.infer<typeof styledScreenSchema>;
