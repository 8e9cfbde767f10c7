import { findAnswerProblem } from "@codex/agent-terminal/schema";
import { expect, it } from "vitest";

const schema = {
  type: "object",
  properties: { name: { type: "string" }, ages: { type: "array", items: { type: "integer", minimum: 0 } } },
  required: ["name"],
  additionalProperties: false,
};

it.each([
  ['{"name":"a","ages":[1,2]}', undefined],
  ["Here it is: {}", /not JSON/],
  ["{}", /name/],
  ['{"name":"a","ages":[1,-2]}', /at \/ages\/1/],
  ['{"name":"a","more":1}', /more|additional/],
])("of %s tells %s", (answer, expected) => {
  const problem = findAnswerProblem(schema, answer);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatch(expected);
});
