import * as z from "zod/mini";
import { MAX_INPUT_CHARACTERS, MAX_RULE_WORDS } from "../limits.js";
import type { Entity } from "./entities.js";

/** Rights of a viewer. */
export type Rights = "read" | "answer";

/** `gone`: nobody has this output any more. `skipped`: the program wrote it faster than the page was sent it. */
export type GapReason = "gone" | "skipped";

/** Messages of the server to a page, as JSON text. Output is sent in binary frames. */
export type ServerMessage =
  /** The first message. Answers from this page are attributed to `viewer`. */
  | { readonly type: "hello"; readonly rights: Rights; readonly viewer: string }
  /** New values; entities with other keys are unchanged. */
  | { readonly type: "set"; readonly entities: readonly Entity[] }
  | { readonly type: "drop"; readonly keys: readonly string[] }
  /** All entities that existed when the page connected have been sent. */
  | { readonly type: "ready" }
  /** Output of a session that is left out: the next frame begins at `to`. */
  | {
      readonly type: "gap";
      readonly session: number;
      readonly from: number;
      readonly to: number;
      readonly reason: GapReason;
    }
  /** The output of a session has ended. */
  | { readonly type: "complete"; readonly session: number; readonly end: number }
  /** The result of an answer, of typed input or of a request for a link. */
  | { readonly type: "notice"; readonly text: string; readonly isProblem: boolean }
  | { readonly type: "link"; readonly rights: Rights; readonly url: string };

const count = z.int().check(z.minimum(0));
const session = count;

/** Messages of a page to the server, as JSON text. */
export const pageMessageSchema = z.discriminatedUnion("type", [
  /** Send the output from this offset on. */
  z.object({ type: z.literal("open"), session, from: count }),
  z.object({ type: z.literal("close"), session }),
  /** Output up to this offset is on the screen. */
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
/** A message of a page to the server. */
export type PageMessage = z.infer<typeof pageMessageSchema>;

/** Messages that the program handles. */
export type Action = Extract<PageMessage, { type: "answer" | "input" | "stop" }>;
