import * as z from "zod/mini";
import { MAX_INPUT_CHARACTERS, MAX_RULE_WORDS } from "../limits.js";
import type { Entity } from "./entities.js";

/** What a viewer may do. */
export type Rights = "read" | "answer";

/** `gone`: nobody has this output any more. `skipped`: the program wrote it faster than the page was sent it. */
export type GapReason = "gone" | "skipped";

/** From the server to a page, as JSON text. Output comes in binary frames. */
export type ServerMessage =
  /** The first one. `viewer` names this page where an answer is shown. */
  | { readonly type: "hello"; readonly rights: Rights; readonly viewer: string }
  /** New values; those of keys that are not named stay. */
  | { readonly type: "set"; readonly entities: readonly Entity[] }
  | { readonly type: "drop"; readonly keys: readonly string[] }
  /** Everything known at the time of connecting was sent. */
  | { readonly type: "ready" }
  /** Output of a session that is left out: the next frame begins at `to`. */
  | {
      readonly type: "gap";
      readonly session: number;
      readonly from: number;
      readonly to: number;
      readonly reason: GapReason;
    }
  /** There is no more output of a session. */
  | { readonly type: "complete"; readonly session: number; readonly end: number }
  /** What came of an answer, of typed input or of a link that was asked for. */
  | { readonly type: "notice"; readonly text: string; readonly isProblem: boolean }
  | { readonly type: "link"; readonly rights: Rights; readonly url: string };

const count = z.int().check(z.minimum(0));
const session = count;

/** From a page to the server, as JSON text. */
export const pageMessageSchema = z.discriminatedUnion("type", [
  /** Send the output from this byte on. */
  z.object({ type: z.literal("open"), session, from: count }),
  z.object({ type: z.literal("close"), session }),
  /** Output up to this byte was shown. */
  z.object({ type: z.literal("ack"), session, offset: count }),
  z.object({
    type: z.literal("answer"),
    question: z.string(),
    decision: z.enum(["accept", "accept_for_session", "accept_and_save", "decline", "cancel"]),
    rule: z.optional(z.array(z.string()).check(z.minLength(1), z.maxLength(MAX_RULE_WORDS))),
  }),
  z.object({ type: z.literal("input"), session, text: z.string().check(z.maxLength(MAX_INPUT_CHARACTERS)) }),
  /** End the turn. */
  z.object({ type: z.literal("stop") }),
  z.object({ type: z.literal("link"), rights: z.enum(["read", "answer"]) }),
]);
/** From a page to the server. */
export type PageMessage = z.infer<typeof pageMessageSchema>;

/** What the program has to carry out. */
export type Action = Extract<PageMessage, { type: "answer" | "input" | "stop" }>;
