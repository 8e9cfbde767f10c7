import type { ExpressionGrammar } from "./expression-grammar.js";
import { parseArguments, parseParameters } from "./parse-arguments.js";
import { parseAtom } from "./parse-atom.js";
import type { BinaryOperator, Expression } from "./syntax.js";
import type { TokenReader } from "./token-reader.js";

/** One or more expressions; more than one, separated by commas, make a tuple. */
export function parseExpressionList(reader: TokenReader): Expression {
  const first = parseExpression(reader);
  if (!reader.is(",")) return first;
  const items = [first];
  while (reader.take(",")) {
    const next = reader.peek();
    if (next.kind === "newline" || next.kind === "end" || reader.is(";", "=", ")")) {
      reader.fail(first.at, "a tuple without parentheses ends with a comma", "Put parentheses around the tuple.");
    }
    items.push(parseExpression(reader));
  }
  return { kind: "tuple", at: first.at, items };
}

/** One expression: a conditional, a lambda or anything that binds tighter. */
export function parseExpression(reader: TokenReader): Expression {
  return reader.nest(() => {
    if (reader.is("lambda")) return parseLambda(reader);
    const consequent = parseOperation(reader, 0);
    if (!reader.is("if")) return consequent;
    const { at } = reader.next();
    const condition = parseOperation(reader, 0);
    reader.expect("else");
    return { kind: "conditional", at, condition, consequent, alternate: parseExpression(reader) };
  });
}

function parseLambda(reader: TokenReader): Expression {
  const { at } = reader.expect("lambda");
  const parameters = parseParameters(reader, EXPRESSION_GRAMMAR, ":", false);
  reader.expect(":");
  return { kind: "lambda", at, parameters, body: parseExpression(reader) };
}

type Operator = BinaryOperator | "and" | "or";

/** Weakest first. */
const LEVELS: readonly (readonly Operator[])[] = [
  ["or"],
  ["and"],
  ["==", "!=", "<", "<=", ">", ">=", "in", "not in"],
  ["|"],
  ["^"],
  ["&"],
  ["<<", ">>"],
  ["+", "-"],
  ["*", "/", "//", "%"],
];

const LEVEL_OF_COMPARISON = 2;

/** Operators of `level` and above. `not` binds looser than comparisons and tighter than `and`. */
function parseOperation(reader: TokenReader, level: number): Expression {
  let left = reader.is("not") && level <= LEVEL_OF_COMPARISON ? parseNot(reader) : parseUnary(reader);
  for (;;) {
    const found = getOperator(reader);
    if (found === undefined || found.level < level) return left;
    const { at } = reader.next();
    if (found.operator === "not in") reader.expect("in");
    const right = parseOperation(reader, found.level + 1);
    left = createOperation(found.operator, at, left, right);
    if (found.level === LEVEL_OF_COMPARISON && getOperator(reader)?.level === LEVEL_OF_COMPARISON) {
      reader.fail(reader.peek().at, "comparisons cannot be chained", "Join two comparisons with `and`.");
    }
  }
}

function parseNot(reader: TokenReader): Expression {
  return reader.nest(() => {
    const { at } = reader.expect("not");
    return { kind: "unary", at, operator: "not", operand: parseOperation(reader, LEVEL_OF_COMPARISON) };
  });
}

function getOperator(reader: TokenReader): { operator: Operator; level: number } | undefined {
  const token = reader.peek();
  if (token.kind !== "symbol" && token.kind !== "keyword") return undefined;
  const text = token.text === "not" ? "not in" : token.text;
  for (const [level, operators] of LEVELS.entries()) {
    const operator = operators.find((candidate) => candidate === text);
    if (operator !== undefined) return { operator, level };
  }
  return undefined;
}

function createOperation(operator: Operator, at: number, left: Expression, right: Expression): Expression {
  if (operator === "and" || operator === "or") return { kind: operator, at, left, right };
  return { kind: "binary", at, operator, left, right };
}

function parseUnary(reader: TokenReader): Expression {
  for (const operator of ["+", "-", "~"] as const) {
    if (reader.is(operator)) {
      return reader.nest(() => {
        const { at } = reader.next();
        return { kind: "unary", at, operator, operand: parseUnary(reader) };
      });
    }
  }
  return parsePrimary(reader);
}

/** An atom with its calls, attributes, indices and slices. */
function parsePrimary(reader: TokenReader): Expression {
  let expression = parseAtom(reader, EXPRESSION_GRAMMAR);
  for (;;) {
    const { at } = expression;
    if (reader.take(".")) {
      expression = { kind: "attribute", at, object: expression, name: reader.expectName().text };
    } else if (reader.take("(")) {
      expression = { kind: "call", at, callee: expression, args: parseArguments(reader, EXPRESSION_GRAMMAR) };
    } else if (reader.take("[")) {
      expression = parseSubscript(reader, expression);
    } else return expression;
  }
}

function parseSubscript(reader: TokenReader, object: Expression): Expression {
  const { at } = object;
  const start = reader.is(":") ? undefined : parseExpressionList(reader);
  if (start !== undefined && reader.take("]")) return { kind: "index", at, object, index: start };
  const parseBound = () => (reader.is(":", "]") ? undefined : parseExpression(reader));
  reader.expect(":");
  const stop = parseBound();
  const step = reader.take(":") ? parseBound() : undefined;
  reader.expect("]");
  return { kind: "slice", at, object, start, stop, step };
}

export const EXPRESSION_GRAMMAR: ExpressionGrammar = { parseExpression, parseOperation };
