import { MAX_LISTED_ENTRIES, MAX_READ_LINES } from "@codex/file-tools";
import * as z from "zod/mini";
import { MAX_DEPTH } from "./specs.js";

const path = z.string().check(z.minLength(1));
const count = (most: number) => z.optional(z.int().check(z.minimum(1), z.maximum(most)));

/** What a call of each takes. Other members are ignored, as with the tools of an executor. */
export const fileToolSchemas = {
  apply_patch: z.object({ input: z.string() }),
  view_image: z.object({ path }),
  read_file: z.object({ path, offset: z.optional(z.int().check(z.minimum(1))), limit: count(MAX_READ_LINES) }),
  list_dir: z.object({ path: z.optional(path), depth: count(MAX_DEPTH), limit: count(MAX_LISTED_ENTRIES) }),
} as const;
