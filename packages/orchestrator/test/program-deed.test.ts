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

it("a program that would run outside says where, is shown with that sandbox, and is decided about apart", () => {
  const permissions = { type: "managed", network: "restricted", file_system: { type: "unrestricted" } } as const;
  const inside = evaluate({ sandbox: { permissions } });
  const network = evaluate({ sandbox: { permissions }, outside: "network" });
  const free = evaluate({ sandbox: { permissions }, outside: "unrestricted" });
  expect(new Set([inside, network, free].map(keysOf).map(String)).size).toBe(3);
  expect(network.outcome).toMatchObject({
    reason: expect.stringContaining("it would run with the network, and otherwise as restricted as before"),
    question: { request: { sandbox: { permissions: { ...permissions, network: "enabled" } } } },
  });
  expect(free.outcome).toMatchObject({
    reason: expect.stringContaining("it would run outside of the sandbox, without restriction"),
    question: { request: { sandbox: null, sandboxPermissions: "require_escalated" } },
  });
});
