import { cleanLine } from "@codex/telemetry";
import * as z from "zod/mini";
import { MAX_EXECUTOR_LIST_BYTES } from "../limits.js";
import { requestJson } from "./http.js";
import type { RegistryAddress } from "./registry.js";
import { RegistryError } from "./registry-error.js";

const text = z.pipe(
  z.string().check(z.maxLength(1024)),
  z.transform((value) => cleanLine(value, 256)),
);

const schema = z.object({
  executors: z.array(
    z.object({
      environment_id: text,
      name: text,
      version: text,
      labels: z.record(z.string(), text),
      transport: text,
      connected: z.boolean(),
      harnesses: z.number(),
      connected_since: z.nullable(text),
    }),
  ),
});

/** An executor in a registry's list. Its strings contain no control characters. */
export interface ListedExecutor {
  environmentId: string;
  /** Empty if it has none. */
  name: string;
  version: string;
  labels: Readonly<Record<string, string>>;
  transport: string;
  isConnected: boolean;
  /** Harnesses that it serves. */
  harnesses: number;
  /** ISO 8601; undefined while it is not connected. */
  since: string | undefined;
}

/** Lists the executors of a registry of this project. @throws RegistryError, or the reason of the signal */
export async function listExecutors(
  address: Omit<RegistryAddress, "environmentId" | "labels">,
  signal?: AbortSignal,
): Promise<ListedExecutor[]> {
  const url = `${address.url.trim().replace(/(?<!\/)\/+$/, "")}/cloud/environments`;
  const headers = await address.authorize({ url, body: "" });
  const maxBytes = MAX_EXECUTOR_LIST_BYTES;
  const answer = await requestJson({ method: "GET", url, headers, body: "", maxBytes, signal, ca: address.ca });
  const parsed = z.safeParse(schema, answer);
  if (!parsed.success) throw new RegistryError("the registry answered with something that is not a list of executors");
  return parsed.data.executors.map(({ environment_id, connected, connected_since, ...rest }) => ({
    ...rest,
    environmentId: environment_id,
    isConnected: connected,
    since: connected_since ?? undefined,
  }));
}
