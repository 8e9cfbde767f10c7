import type { ExpressionGrammar } from "./expression-grammar.js";
import type { Expression, Target } from "./syntax.js";
import type { TokenReader } from "./token-reader.js";

/** Binds tighter than `in`, so that the target of a `for` ends before it. */
const LEVEL_ABOVE_COMPARISON = 3;

/** The variables of a `for`: one target or several with commas. */
export function parseTarget(reader: TokenReader, { parseOperation }: ExpressionGrammar): Target {
  const first = parseOperation(reader, LEVEL_ABOVE_COMPARISON);
  const items = [first];
  while (reader.take(",")) items.push(parseOperation(reader, LEVEL_ABOVE_COMPARISON));
  return createTarget(reader, items.length === 1 ? first : { kind: "tuple", at: first.at, items });
}

/** Turns the expression on the left of an assignment into a target, or fails. */
export function createTarget(reader: TokenReader, expression: Expression): Target {
  const { at } = expression;
  switch (expression.kind) {
    case "name":
      return { kind: "name", at, name: expression.name };
    case "index":
      return { kind: "index", at, object: expression.object, index: expression.index };
    case "list":
    case "tuple":
      return { kind: "unpack", at, targets: expression.items.map((item) => createTarget(reader, item)) };
    default:
      return reader.fail(at, "this cannot be assigned to", "Assign to a name, an index or a tuple of these.");
  }
}
