import type { Reply } from "./wire-types.js";

/** Why there is no response, as the end of a sentence. */
export function describeReply(reply: Exclude<Reply<never>, { kind: "answer" }>): string {
  switch (reply.kind) {
    case "refused":
      return `the executor answered: ${reply.message}`;
    case "unreadable":
      return `the executor's answer could not be read: ${reply.problem}`;
    case "foreign":
      return "it speaks JSON-RPC, as an exec-server does, and not the executor protocol";
    case "timeout":
      return `the executor did not answer within ${reply.ms} ms`;
    case "ended":
      return `the executor is offline: ${reply.reason}`;
    case "unsent":
      return `the request could not be sent: ${reply.reason}`;
  }
}
