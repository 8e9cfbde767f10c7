import type { ExpressionGrammar } from "./expression-grammar.js";
import { readEmbeddedTokens } from "./lexer.js";
import { parseTarget } from "./parse-target.js";
import { decodeString } from "./string-literals.js";
import type { ComprehensionClause, DictEntry, Expression, FormatPart } from "./syntax.js";
import { TokenReader } from "./token-reader.js";
import type { Token } from "./tokens.js";

/** A literal, a name, or something in brackets. */
export function parseAtom(reader: TokenReader, grammar: ExpressionGrammar): Expression {
  const token = reader.peek();
  const { at } = token;
  switch (token.kind) {
    case "int":
    case "float":
    case "string":
      reader.next();
      return { kind: "constant", at, value: token.value };
    case "format-string":
      reader.next();
      return { kind: "format-string", at, parts: parseFormatParts(reader, grammar, token) };
    case "name":
      reader.next();
      return { kind: "name", at, name: token.text };
    default:
  }
  if (reader.take("...")) return { kind: "ellipsis", at };
  if (reader.take("(")) return parseParenthesized(reader, grammar, at);
  if (reader.take("[")) return parseList(reader, grammar, at);
  if (reader.take("{")) return parseDict(reader, grammar, at);
  return reader.failExpected("an expression");
}

function parseParenthesized(reader: TokenReader, grammar: ExpressionGrammar, at: number): Expression {
  if (reader.take(")")) return { kind: "tuple", at, items: [] };
  const first = grammar.parseExpression(reader);
  if (reader.take(")")) return first;
  const items = [first];
  while (reader.take(",")) {
    if (reader.is(")")) break;
    items.push(grammar.parseExpression(reader));
  }
  reader.expect(")");
  return { kind: "tuple", at, items };
}

function parseList(reader: TokenReader, grammar: ExpressionGrammar, at: number): Expression {
  if (reader.take("]")) return { kind: "list", at, items: [] };
  const first = grammar.parseExpression(reader);
  if (reader.is("for")) {
    const clauses = parseClauses(reader, grammar);
    reader.expect("]");
    return { kind: "list-comprehension", at, element: first, clauses };
  }
  const items = [first];
  while (reader.take(",")) {
    if (reader.is("]")) break;
    items.push(grammar.parseExpression(reader));
  }
  reader.expect("]");
  return { kind: "list", at, items };
}

function parseDict(reader: TokenReader, grammar: ExpressionGrammar, at: number): Expression {
  if (reader.take("}")) return { kind: "dict", at, entries: [] };
  const first = parseDictEntry(reader, grammar);
  if (reader.is("for")) {
    const clauses = parseClauses(reader, grammar);
    reader.expect("}");
    return { kind: "dict-comprehension", at, entry: first, clauses };
  }
  const entries = [first];
  while (reader.take(",")) {
    if (reader.is("}")) break;
    entries.push(parseDictEntry(reader, grammar));
  }
  reader.expect("}");
  return { kind: "dict", at, entries };
}

function parseDictEntry(reader: TokenReader, grammar: ExpressionGrammar): DictEntry {
  const key = grammar.parseExpression(reader);
  reader.expect(":");
  return { key, value: grammar.parseExpression(reader) };
}

function parseClauses(reader: TokenReader, grammar: ExpressionGrammar): ComprehensionClause[] {
  const clauses: ComprehensionClause[] = [];
  while (reader.is("for", "if")) {
    const { at } = reader.peek();
    if (reader.take("for")) {
      const target = parseTarget(reader, grammar);
      reader.expect("in");
      clauses.push({ kind: "for", at, target, iterable: grammar.parseOperation(reader, 0) });
    } else {
      reader.next();
      clauses.push({ kind: "if", at, condition: grammar.parseOperation(reader, 0) });
    }
  }
  return clauses;
}

type FormatString = Extract<Token, { kind: "format-string" }>;

function parseFormatParts(reader: TokenReader, grammar: ExpressionGrammar, token: FormatString): FormatPart[] {
  const { source } = reader;
  const parts: FormatPart[] = [];
  let textStart = token.bodyStart;
  const flush = (end: number) => {
    if (end > textStart) parts.push(decodeString(source, textStart, end, token.raw));
  };
  for (let at = token.bodyStart; at < token.bodyEnd; ) {
    const character = source.text[at];
    const isDoubled = source.text[at + 1] === character && at + 1 < token.bodyEnd;
    if (character === "\\") at += 2;
    else if (character !== "{" && character !== "}") at += 1;
    else if (isDoubled) {
      flush(at + 1);
      at += 2;
      textStart = at;
    } else if (character === "}") {
      reader.fail(at, "a single `}` in an f-string", "Write }} for a brace.");
    } else {
      flush(at);
      const { part, end } = parseEmbedded(reader, grammar, at + 1, token.bodyEnd);
      parts.push(part);
      at = end;
      textStart = end;
    }
  }
  flush(token.bodyEnd);
  return parts;
}

function parseEmbedded(
  reader: TokenReader,
  grammar: ExpressionGrammar,
  start: number,
  limit: number,
): { part: FormatPart; end: number } {
  const { source } = reader;
  const embedded = new TokenReader(source, readEmbeddedTokens(source, start, limit));
  // The nesting of the embedded expression counts from the f-string that contains it.
  const expression = reader.nest(() => embedded.nest(() => grammar.parseExpression(embedded)));
  const { at } = embedded.expectKind("end", "the end of the expression");
  const conversion = /^![rs]/.exec(source.text.slice(at, at + 2))?.[0] ?? "";
  const end = at + conversion.length;
  if (end >= limit || source.text[end] !== "}") reader.fail(start, "this expression is not closed", "Add the `}`.");
  return { part: { expression, repr: conversion === "!r" }, end: end + 1 };
}
