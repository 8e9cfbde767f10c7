import * as z from "zod/mini";
import { decodeBase64 } from "./base64.js";
import { parseFileUrl } from "./file-url.js";
import type { HostPath } from "./host-path.js";
import { ERROR_CODES } from "./methods.js";

/** A member that may be absent or null, which mean the same. */
export const optional = <Schema extends z.ZodMiniType>(schema: Schema) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value) => value ?? undefined),
  );

/** A member that is `fallback` when it is absent or null. */
export const withDefault = <Schema extends z.ZodMiniType>(schema: Schema, fallback: z.output<Schema>) =>
  z.pipe(
    z.nullish(schema),
    z.transform((value): z.output<Schema> => value ?? fallback),
  );

/** An unsigned integer. Beyond 2^53 JSON numbers are not exact here, so they are refused. */
export const unsigned = z.int().check(z.nonnegative());

/** A `file:` URI, as a path of this host. A URI of another kind of host has code -32600. */
export const pathMember = z.pipe(
  z.string(),
  z.transform((text, context): HostPath => {
    const parsed = parseFileUrl(text);
    if (parsed.kind === "ok") return parsed.path;
    const rpcCode = parsed.kind === "foreign" ? ERROR_CODES.invalidRequest : ERROR_CODES.invalidParams;
    return refuse(context, text, parsed.problem, rpcCode);
  }),
);

/** A working directory: a `file:` URI, or a native absolute path as the first exec-servers took it. */
export const cwdMember = z.pipe(
  z.string(),
  z.transform((text, context): string => {
    const parsed = parseFileUrl(text, { allowNative: true });
    if (parsed.kind === "ok" && typeof parsed.path === "string") return parsed.path;
    if (parsed.kind === "invalid") return refuse(context, text, parsed.problem);
    const problem = parsed.kind === "foreign" ? parsed.problem : "its path is not UTF-8";
    return refuse(context, text, `cwd URI \`${text}\` is not valid on this exec-server host: ${problem}`);
  }),
);

/** Bytes in base64. `prefix` and `rpcCode` are those of the error. */
export const base64Member = (prefix = "", rpcCode: number = ERROR_CODES.invalidParams) =>
  z.pipe(
    z.string(),
    z.transform((text, context): Buffer => {
      const decoded = decodeBase64(text);
      return decoded.kind === "ok" ? decoded.bytes : refuse(context, text, `${prefix}${decoded.problem}`, rpcCode);
    }),
  );

/** Rejects a member with a custom message. */
export function refuse(
  context: z.core.ParsePayload,
  input: unknown,
  message: string,
  rpcCode: number = ERROR_CODES.invalidParams,
): never {
  context.issues.push({ code: "custom", message, input, params: { rpcCode } });
  return z.NEVER;
}
