import * as z from "zod/mini";

/** An integer of at least 0: milliseconds, tokens, byte offsets, numbers of chunks. */
export const countSchema = z.int().check(z.nonnegative());

/** Chosen by a caller so that a repeat can be recognized. */
export const keySchema = z.string().check(z.minLength(1));

/** Identifies a session; assigned by the executor. */
export const processIdSchema = z.int();

/** Absent and null mean the same when read; null is what is written. */
export const nullable = <T extends z.ZodMiniType>(schema: T) => z._default(z.nullable(schema), null);
