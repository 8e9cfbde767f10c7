import * as z from "zod/mini";
import { decodeParams, lazily } from "./decode.js";
import type { EnvironmentInfo } from "./environment.js";
import { optional } from "./members.js";

const initializeSchema = lazily(() =>
  z.object({
    clientName: z.string(),
    /** The session to resume after its connection was lost. */
    resumeSessionId: optional(z.string()),
    /**
     * The client asks for extensions: `outcome` members, which distinguish signals from exit codes, and `data.code` of errors.
     * The member is unknown to Codex.
     */
    outcomes: optional(z.boolean()),
  }),
);
export type InitializeParams = z.output<ReturnType<typeof initializeSchema>>;

export interface InitializeResult {
  sessionId: string;
  environmentInfo: EnvironmentInfo;
}

/** Validates the parameters of `initialize`. @throws RpcError `invalidParams` */
export const decodeInitialize = (params: unknown): InitializeParams =>
  decodeParams(initializeSchema, params, "InitializeParams");
