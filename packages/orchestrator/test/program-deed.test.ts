import { expect, it } from "vitest";
import type { Evaluation } from "../src/decide/decision.js";
import { evaluateProgram } from "../src/decide/program.js";

const RUN = { cwd: "/w", rule: "r", command: ["sh"], sandbox: null };
const DEED = { environment: "e", program: "/bin/rm", argv: ["rm", "x"], ...RUN };
const keysOf = ({ outcome }: Evaluation<undefined>) => (outcome.kind === "ask" ? outcome.question.keys : undefined);
const evaluate = (more: object) => evaluateProgram({ ...DEED, ...more }, { newId: () => "id" });

it("a decision for the session covers a program by its file, all of its words and its directory", () => {
  const keys = [{}, { program: "/opt/rm" }, { argv: ["rm", "y"] }, { cwd: "/v" }, {}].map((more) =>
    keysOf(evaluate(more)),
  );
  expect(new Set(keys.map(String)).size).toBe(4);
  expect(keys[0]).toHaveLength(1);
});

it("a program of which not all words are shown is asked about each time", () => {
  const { outcome } = evaluate({ isCut: true });
  expect(outcome).toMatchObject({ kind: "ask", question: { keys: [] } });
  expect(outcome).toMatchObject({ reason: expect.stringContaining("only the beginning of its arguments is shown") });
});
