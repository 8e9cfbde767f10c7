import type { CallDecision } from "@codex/orchestrator";
import type { Item } from "../model/items.js";
import type { Usage } from "../model/model-port.js";

/** What is kept of a thread, in order: enough to go on after any end, and to say what became of what. */
export type ThreadEntry =
  | { readonly type: "item"; readonly item: Item }
  | {
      readonly type: "turn_started";
      readonly turnId: string;
      readonly model: string;
      readonly cwd: string | undefined;
      readonly environment: string | undefined;
    }
  /** Written before a call is made: one without it was not made. */
  | {
      readonly type: "call_started";
      readonly callId: string;
      readonly name: string;
      readonly environment: string | undefined;
    }
  | {
      readonly type: "call_finished";
      readonly callId: string;
      readonly wallMs: number;
      readonly decidedBy?: CallDecision["by"];
      /** The rules that match the call, joined by `; `. */
      readonly rule?: string;
    }
  | { readonly type: "usage"; readonly turnId: string; readonly usage: Usage; readonly total: Usage }
  /** The history is these items from here on. */
  | {
      readonly type: "compacted";
      readonly items: readonly Item[];
      readonly tokensBefore: number;
      /** Why; empty where the other client wrote it. */
      readonly reason: string;
    }
  | {
      readonly type: "turn_ended";
      readonly turnId: string;
      readonly outcome: "completed" | "failed" | "interrupted";
      readonly error: string | undefined;
      readonly wallMs: number;
    };

/** Where a thread is kept. */
export interface ThreadRecorder {
  /** Resolves when the entry would outlive this process. Entries are kept in the order of the calls. */
  append(entry: ThreadEntry): Promise<void>;
}
