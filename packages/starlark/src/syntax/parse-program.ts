import type { Source } from "../source.js";
import { readTokens } from "./lexer.js";
import { parseParameters } from "./parse-arguments.js";
import { EXPRESSION_GRAMMAR, parseExpression, parseExpressionList } from "./parse-expression.js";
import { createTarget, parseTarget } from "./parse-target.js";
import type { BinaryOperator, Branch, Expression, Statement } from "./syntax.js";
import { TokenReader } from "./token-reader.js";

/** Throws a `StarlarkError` at the first thing that is not Starlark. */
export function parseProgram(source: Source): Statement[] {
  const reader = new TokenReader(source, readTokens(source));
  const statements: Statement[] = [];
  while (!reader.takeKind("end")) statements.push(...parseStatement(reader, { loop: false, function: false }));
  return statements;
}

/** What surrounds a statement. */
interface StatementContext {
  readonly loop: boolean;
  readonly function: boolean;
}

function parseStatement(reader: TokenReader, context: StatementContext): Statement[] {
  if (reader.peek().kind === "indent") reader.failExpected("a statement that is not indented");
  if (reader.is("if")) return [parseIf(reader, context)];
  if (reader.is("for")) return [parseFor(reader, context)];
  if (reader.is("def")) return [parseDefinition(reader)];
  return parseSimpleLine(reader, context);
}

/** Statements on one line, separated by `;`. */
function parseSimpleLine(reader: TokenReader, context: StatementContext): Statement[] {
  const statements = [parseSimple(reader, context)];
  while (reader.take(";")) {
    if (reader.peek().kind === "newline") break;
    statements.push(parseSimple(reader, context));
  }
  reader.expectKind("newline", "the end of the line");
  return statements;
}

function parseBlock(reader: TokenReader, context: StatementContext): Statement[] {
  reader.expect(":");
  return reader.nest(() => {
    if (!reader.takeKind("newline")) return parseSimpleLine(reader, context);
    reader.expectKind("indent", "an indented block");
    const statements: Statement[] = [];
    while (!reader.takeKind("dedent")) statements.push(...parseStatement(reader, context));
    return statements;
  });
}

function parseIf(reader: TokenReader, context: StatementContext): Statement {
  const { at } = reader.peek();
  const branches: Branch[] = [];
  do {
    reader.next();
    const condition = parseExpression(reader);
    branches.push({ condition, body: parseBlock(reader, context) });
  } while (reader.is("elif"));
  return { kind: "if", at, branches, otherwise: reader.take("else") ? parseBlock(reader, context) : [] };
}

function parseFor(reader: TokenReader, context: StatementContext): Statement {
  const { at } = reader.expect("for");
  const target = parseTarget(reader, EXPRESSION_GRAMMAR);
  reader.expect("in");
  const iterable = parseExpressionList(reader);
  return { kind: "for", at, target, iterable, body: parseBlock(reader, { ...context, loop: true }) };
}

function parseDefinition(reader: TokenReader): Statement {
  const { at } = reader.expect("def");
  const name = reader.expectName().text;
  reader.expect("(");
  const parameters = parseParameters(reader, EXPRESSION_GRAMMAR, ")", true);
  reader.expect(")");
  if (reader.take("->")) parseExpression(reader);
  return { kind: "def", at, name, parameters, body: parseBlock(reader, { loop: false, function: true }) };
}

function parseSimple(reader: TokenReader, context: StatementContext): Statement {
  const { at } = reader.peek();
  if (reader.take("pass")) return { kind: "pass", at };
  if (reader.is("break", "continue")) return parseJump(reader, context);
  if (reader.is("return")) return parseReturn(reader, context);
  if (reader.is("load")) reader.fail(at, "rule files cannot load other files", "Copy what is needed into this file.");
  const left = parseExpressionList(reader);
  return parseAssignment(reader, left) ?? { kind: "expression", at, expression: left };
}

function parseJump(reader: TokenReader, context: StatementContext): Statement {
  const { at } = reader.peek();
  const kind = reader.next().text === "break" ? "break" : "continue";
  if (!context.loop) reader.fail(at, `\`${kind}\` is outside of a loop`, "Remove it.");
  return { kind, at };
}

function parseReturn(reader: TokenReader, context: StatementContext): Statement {
  const { at } = reader.expect("return");
  if (!context.function) reader.fail(at, "`return` is outside of a function", "Remove it.");
  const isBare = reader.peek().kind === "newline" || reader.is(";");
  return { kind: "return", at, value: isBare ? undefined : parseExpressionList(reader) };
}

const AUGMENTED: ReadonlyMap<string, BinaryOperator> = new Map([
  ["+=", "+"],
  ["-=", "-"],
  ["*=", "*"],
  ["/=", "/"],
  ["//=", "//"],
  ["%=", "%"],
  ["|=", "|"],
  ["&=", "&"],
  ["^=", "^"],
  ["<<=", "<<"],
  [">>=", ">>"],
]);

/** Undefined when no assignment follows. A type annotation is read and has no effect. */
function parseAssignment(reader: TokenReader, left: Expression): Statement | undefined {
  const { at } = left;
  const isAnnotated = left.kind === "name" && reader.take(":");
  if (isAnnotated) parseExpression(reader);
  if (isAnnotated || reader.is("=")) {
    reader.expect("=");
    const target = createTarget(reader, left);
    return { kind: "assign", at, target, value: parseExpressionList(reader) };
  }
  const token = reader.peek();
  const operator = token.kind === "symbol" ? AUGMENTED.get(token.text) : undefined;
  if (operator === undefined) return undefined;
  const target = createTarget(reader, left);
  if (target.kind === "unpack") reader.fail(at, `a tuple cannot be changed with \`${token.text}\``, "Assign with `=`.");
  reader.next();
  return { kind: "augmented-assign", at, target, operator, value: parseExpressionList(reader) };
}
