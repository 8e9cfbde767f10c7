import * as z from "zod/mini";

/** A request from one node to another. */
export const nodeRequestSchema = z.object({
  kind: z.enum(["connect", "validate"]),
  environmentId: z.string(),
  registrationId: z.optional(z.string()),
  body: z.string(),
  expiresAt: z.optional(z.number()),
  streamId: z.optional(z.string()),
});

/** The response: JSON for the client, or a refusal. */
export const nodeAnswerSchema = z.union([
  z.object({ ok: z.looseObject({}) }),
  z.object({ refusal: z.object({ code: z.string(), message: z.string(), retryAfterS: z.optional(z.number()) }) }),
]);

/** Parses a message; undefined if it does not match the schema. */
export function parseMessage<T extends z.core.$ZodType>(schema: T, text: string): z.output<T> | undefined {
  try {
    const parsed = z.safeParse(schema, JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
