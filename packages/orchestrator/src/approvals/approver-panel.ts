import type { ApprovalAnswer, ApprovalDecision, ApprovalRequest, Approver } from "./approver.js";

/** Abort reason of a request that is withdrawn from an approver because another one has decided. */
export interface AnsweredElsewhere {
  readonly decision: ApprovalDecision;
  /** `via` of the answer, if it has one. */
  readonly via: string | undefined;
}

/** Approvers in addition to the configured one. The first answer counts, and the request is withdrawn from the others. */
export interface ApproverPanel {
  /** Adds an approver for open and later requests. Returns a function that removes it. */
  add(approver: Approver): () => void;
  /** An approver that asks this one and the added ones; undefined if there is none at all. */
  join(approver: Approver | undefined): Approver | undefined;
}

interface OpenQuestion {
  ask(approver: Approver): void;
  withdraw(approver: Approver): void;
}

/** Creates a panel without members. */
export function createApproverPanel(): ApproverPanel {
  const members = new Set<Approver>();
  const open = new Set<OpenQuestion>();
  const ask = (first: Approver | undefined, request: ApprovalRequest, signal: AbortSignal) =>
    new Promise<ApprovalAnswer>((resolve, reject) => {
      const asked = new Map<Approver, AbortController>();
      const finish = (reason: unknown) => {
        open.delete(question);
        signal.removeEventListener("abort", onAbort);
        for (const given of asked.values()) given.abort(reason);
        asked.clear();
      };
      const onAbort = () => {
        finish(signal.reason);
        reject(signal.reason);
      };
      const fail = (approver: Approver, error: unknown) => {
        asked.delete(approver);
        if (asked.size > 0 || !open.has(question)) return;
        finish(error);
        reject(error);
      };
      const question: OpenQuestion = {
        ask(approver) {
          const given = new AbortController();
          asked.set(approver, given);
          // A synchronous exception is a failure as well.
          void new Promise<ApprovalAnswer>((answer) => answer(approver.requestApproval(request, given)))
            .then((answer) => {
              if (!open.has(question)) return;
              const described = describeAnswer(answer);
              asked.delete(approver);
              finish(described);
              resolve(answer);
            })
            .catch((error: unknown) => fail(approver, error));
        },
        withdraw(approver) {
          asked.get(approver)?.abort();
          fail(approver, new Error("the approver was removed"));
        },
      };
      open.add(question);
      signal.addEventListener("abort", onAbort, { once: true });
      for (const approver of [...(first === undefined ? [] : [first]), ...members]) question.ask(approver);
    });
  return {
    add(approver) {
      members.add(approver);
      for (const question of [...open]) question.ask(approver);
      return () => {
        if (!members.delete(approver)) return;
        for (const question of [...open]) question.withdraw(approver);
      };
    },
    join(approver) {
      if (members.size === 0 && approver === undefined) return undefined;
      return { requestApproval: (request, { signal }) => ask(approver, request, signal) };
    },
  };
}

/** `?.`: an approver in JavaScript may answer nothing at all, which is refused. */
const describeAnswer = (answer: ApprovalAnswer): AnsweredElsewhere =>
  typeof answer === "string" ? { decision: answer, via: undefined } : { decision: answer?.decision, via: answer?.via };
