import type { Sandbox } from "@codex/executor-protocol";
import type { CallDecision } from "../audit/noted-decision.js";
import type { RefusedCode } from "../decide/decision.js";

/** The decision about an access to files. */
export type FileDecision = { readonly decision: CallDecision } & (
  | {
      readonly kind: "allowed";
      /** Of the file calls; null for none. */
      readonly sandbox: Sandbox | null;
      /** To be called when it was done, or could not be. */
      readonly ended: (isDone: boolean) => void;
    }
  | {
      readonly kind: "refused";
      /** `audit_failed`: it must be recorded, and cannot be. */
      readonly code: RefusedCode | "audit_failed";
      readonly reason: string;
    }
);
