import { randomUUID } from "node:crypto";
import type { Grant, Judgement } from "@codex/orchestrator";
import { REMEMBERED_QUESTIONS } from "./limits.js";

interface Question {
  digest: string;
  /** Of the call that it allows: it is made once. */
  key: string;
}

/** What was asked about, by the id of the tool call. An approval counts for what was asked first under that id. */
export class Questions {
  readonly #questions = new Map<string, Question>();

  /** @param isRepeat the same question again, with its answer: what it is about must not change */
  ask(toolCallId: string, { digest }: Extract<Judgement, { kind: "ask" }>, isRepeat: boolean): void {
    if (isRepeat) return;
    this.#questions.delete(toolCallId);
    this.#questions.set(toolCallId, { digest, key: randomUUID() });
    for (const oldest of this.#questions.keys()) {
      if (this.#questions.size <= REMEMBERED_QUESTIONS) return;
      this.#questions.delete(oldest);
    }
  }

  has(toolCallId: string): boolean {
    return this.#questions.has(toolCallId);
  }

  /** For a call that is made: it would not be if its question had not been answered with yes. */
  grant(toolCallId: string): { grant: Grant; idempotencyKey: string } | undefined {
    const question = this.#questions.get(toolCallId);
    if (question === undefined) return undefined;
    const { digest, key } = question;
    return { grant: { digest, decision: "accept", by: "client" }, idempotencyKey: key };
  }
}
