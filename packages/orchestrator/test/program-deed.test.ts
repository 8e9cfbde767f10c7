import { parseRulePolicy, RuleBook, type SaveRule } from "@codex/policy";
import { expect, it } from "vitest";
import type { Evaluation } from "../src/decide/decision.js";
import { evaluateProgram } from "../src/decide/program.js";

const RUN = { cwd: "/w", rule: "r", command: ["sh"], sandbox: null };
const DEED = { environment: "e", program: "/bin/rm", argv: ["rm", "x"], ...RUN };
const keysOf = ({ outcome }: Evaluation<undefined>) => (outcome.kind === "ask" ? outcome.question.keys : undefined);
const createBook = (text = "", save: SaveRule | undefined = async () => ({ file: "saved.rules", line: 1 })) =>
  new RuleBook(parseRulePolicy([{ file: "default.rules", text }]), save);
const evaluate = (more: object, rules = createBook()) =>
  evaluateProgram({ ...DEED, ...more }, { rules }, { newId: () => "id" });
const DANGER = "rm-force of the dangerous commands: `rm` with a force flag deletes without asking";
const FORCED = { argv: ["rm", "-f", "x"], rule: DANGER };
const decisionsOf = ({ outcome }: Evaluation<undefined>) =>
  outcome.kind === "ask" ? outcome.question.request.availableDecisions : outcome.kind;

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

it("one of the dangerous commands can be allowed by a rule for these words, which holds at once", async () => {
  const rules = createBook();
  const evaluation = evaluate(FORCED, rules);
  expect(evaluation.outcome).toMatchObject({
    question: { request: { proposedAmendment: ["rm", "-f", "x"], plainCommands: [["rm", "-f", "x"]] } },
  });
  expect(decisionsOf(evaluation)).toContain("accept_and_save");
  await rules.save({ words: ["rm", "-f", "x"], keepsSandbox: true });
  expect(decisionsOf(evaluate(FORCED, rules))).toBe("allowed");
  expect(decisionsOf(evaluate({ ...FORCED, argv: ["rm", "-f", "y"] }, rules))).toContain("accept_and_save");
});

it.each([
  ["that a rule asks about", {}, undefined],
  ["in a directory that is not of the system", { ...FORCED, program: "/w/rm" }, undefined],
  ["of which not all words are shown", { ...FORCED, isCut: true }, undefined],
  ["that is asked about by another name", { ...FORCED, program: "/bin/busybox" }, undefined],
  ["where no rule can be saved", FORCED, null],
])("no rule is offered for a program %s", (_what, more, save) => {
  const rules = save === null ? new RuleBook(undefined, undefined) : createBook();
  expect(decisionsOf(evaluate(more, rules))).toEqual(["accept", "accept_for_session", "decline", "cancel"]);
});
