import type { ExpressionGrammar } from "./expression-grammar.js";
import type { Argument, Expression, Parameter } from "./syntax.js";
import type { TokenReader } from "./token-reader.js";

/** The arguments of a call, after its `(` and with its `)`. */
export function parseArguments(reader: TokenReader, grammar: ExpressionGrammar): Argument[] {
  const args: Argument[] = [];
  while (!reader.is(")")) {
    const argument = parseArgument(reader, grammar);
    checkArgumentOrder(reader, args, argument);
    args.push(argument);
    if (!reader.take(",")) break;
  }
  reader.expect(")");
  return args;
}

function parseArgument(reader: TokenReader, { parseExpression }: ExpressionGrammar): Argument {
  const { at } = reader.peek();
  if (reader.take("*")) return { kind: "star", at, value: parseExpression(reader) };
  if (reader.take("**")) return { kind: "double-star", at, value: parseExpression(reader) };
  const value = parseExpression(reader);
  if (!reader.take("=")) return { kind: "positional", at, value };
  if (value.kind !== "name") reader.fail(at, "the name of an argument is expected before `=`", "Write name=value.");
  return { kind: "named", at, name: value.name, value: parseExpression(reader) };
}

function checkArgumentOrder(reader: TokenReader, before: readonly Argument[], argument: Argument): void {
  const { kind, at } = argument;
  const seen = (kinds: readonly Argument["kind"][]) => before.some((earlier) => kinds.includes(earlier.kind));
  const fail = (problem: string) => reader.fail(at, problem, "Order: positional, named, *args, **kwargs.");
  if (kind === "positional" && seen(["named", "star", "double-star"])) fail("a positional argument comes too late");
  if (kind === "named" && seen(["star", "double-star"])) fail("a named argument comes after *args or **kwargs");
  if (kind === "star" && seen(["star", "double-star"])) fail("*args comes too late");
  if (kind === "double-star" && seen(["double-star"])) fail("**kwargs is given twice");
  if (kind === "named" && before.some((earlier) => earlier.kind === "named" && earlier.name === argument.name)) {
    fail(`the argument \`${argument.name}\` is given twice`);
  }
}

/** Parameters up to, and without, `close`. Type annotations are read and have no effect. */
export function parseParameters(
  reader: TokenReader,
  grammar: ExpressionGrammar,
  close: string,
  annotated: boolean,
): Parameter[] {
  const parameters: Parameter[] = [];
  while (!reader.is(close)) {
    const parameter = parseParameter(reader, grammar, annotated);
    checkParameterOrder(reader, parameters, parameter);
    parameters.push(parameter);
    if (!reader.take(",")) break;
  }
  const last = parameters.at(-1);
  if (last?.kind === "star" && last.name === undefined) reader.failExpected("a parameter after `*`");
  return parameters;
}

function parseParameter(reader: TokenReader, grammar: ExpressionGrammar, annotated: boolean): Parameter {
  const { at } = reader.peek();
  if (reader.take("**")) {
    const { text } = reader.expectName();
    parseAnnotation(reader, grammar, annotated);
    return { kind: "double-star", at, name: text, fallback: undefined };
  }
  if (reader.take("*")) {
    const name = reader.peek().kind === "name" ? reader.next().text : undefined;
    if (name !== undefined) parseAnnotation(reader, grammar, annotated);
    return { kind: "star", at, name, fallback: undefined };
  }
  const { text } = reader.expectName();
  parseAnnotation(reader, grammar, annotated);
  const fallback: Expression | undefined = reader.take("=") ? grammar.parseExpression(reader) : undefined;
  return { kind: "plain", at, name: text, fallback };
}

function parseAnnotation(reader: TokenReader, grammar: ExpressionGrammar, annotated: boolean): void {
  if (annotated && reader.take(":")) grammar.parseExpression(reader);
}

function checkParameterOrder(reader: TokenReader, before: readonly Parameter[], parameter: Parameter): void {
  const fail = (problem: string) =>
    reader.fail(parameter.at, problem, "Order: plain, with a default, *args, **kwargs.");
  const afterStar = before.some(({ kind }) => kind === "star");
  if (before.some(({ kind }) => kind === "double-star")) fail("a parameter comes after **kwargs");
  if (parameter.kind === "star" && afterStar) fail("a second `*` among the parameters");
  const isRequired = parameter.kind === "plain" && parameter.fallback === undefined;
  if (isRequired && !afterStar && before.some(({ fallback }) => fallback !== undefined)) {
    fail("a parameter without a default comes after one with a default");
  }
  if (parameter.name !== undefined && before.some(({ name }) => name === parameter.name)) {
    fail(`the parameter \`${parameter.name}\` appears twice`);
  }
}
