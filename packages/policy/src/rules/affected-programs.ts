import { posix } from "node:path";
import { foldCase } from "@codex/exec-gate";
import type { Argument, CallExpression, Expression, Statement } from "@codex/starlark";
import { parseProgram, StarlarkError } from "@codex/starlark";
import { DECISIONS } from "./rule.js";
import { PREFIX_RULE_PARAMETERS } from "./signatures.js";

/** Programs a broken file may restrict, as `foldCase` returns them, or all of them. */
export type AffectedPrograms = "everything" | ReadonlySet<string>;

export function isAffected(affectedPrograms: AffectedPrograms, argv: readonly string[]): boolean {
  if (affectedPrograms === "everything") return true;
  const [program = ""] = argv;
  return affectedPrograms.has(foldCase(program)) || affectedPrograms.has(foldCase(posix.basename(program)));
}

/**
 * The strictest reading of a file that does not load: every program that it may have asked about or forbidden. Each
 * top-level statement is read on its own, so that the error of one does not hide the others.
 */
export function findAffectedPrograms(text: string): AffectedPrograms {
  const names = new Set<string>();
  let isWhole = true;
  for (const piece of splitStatements(text)) {
    const statements = parseStatements(piece);
    isWhole &&= statements !== undefined;
    // After a piece that may contain an open string or bracket, a string on a line of its own may belong to it.
    const found = statements === undefined ? readWords(piece) : readStatements(statements, piece, isWhole);
    if (found === "everything") return found;
    for (const name of found) addName(names, name);
  }
  return names;
}

function addName(names: Set<string>, text: string): void {
  for (const part of [text, text.trim().split(/\s/)[0] ?? ""]) {
    if (part === "") continue;
    names.add(foldCase(part));
    names.add(foldCase(posix.basename(part)));
  }
}

/** A statement starts at the first column; what is indented or closes a bracket belongs to the one before. */
function splitStatements(text: string): string[] {
  return text.split(/^(?=[^\s)\]}#])/m);
}

function readStatements(
  statements: readonly Statement[],
  piece: string,
  isWhole: boolean,
): "everything" | readonly string[] {
  const found: string[] = [];
  for (const statement of statements) {
    const call = getRuleCall(statement);
    const programs = call === undefined ? readOther(statement, piece, isWhole) : readRuleCall(call);
    if (programs === "everything") return programs;
    found.push(...programs);
  }
  return found;
}

function parseStatements(piece: string): Statement[] | undefined {
  try {
    return parseProgram({ file: "", text: piece });
  } catch (error) {
    if (error instanceof StarlarkError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function getRuleCall(statement: Statement): CallExpression | undefined {
  if (statement.kind !== "expression" || statement.expression.kind !== "call") return undefined;
  return statement.expression;
}

const HARMLESS_CALLS: readonly string[] = ["host_executable", "network_rule"];

/** The programs of a call written out in literals; everything when the call computes its pattern. */
function readRuleCall(call: CallExpression): "everything" | readonly string[] {
  const name = call.callee.kind === "name" ? call.callee.name : "";
  if (HARMLESS_CALLS.includes(name)) return [];
  if (name !== "prefix_rule") return "everything";
  const decision = getArgument(call, "decision", 1);
  const isLenient = decision === undefined || (decision.kind === "constant" && decision.value === DECISIONS[0]);
  if (isLenient && call.args.every(isKnownArgument)) return [];
  const pattern = getArgument(call, "pattern", 0);
  const [first] = pattern?.kind === "list" ? pattern.items : [];
  return first === undefined ? "everything" : readTexts(first);
}

/** With a misspelled parameter, a rule without a decision may be one that was meant to forbid. */
function isKnownArgument(argument: Argument): boolean {
  return (
    argument.kind === "positional" || (argument.kind === "named" && PREFIX_RULE_PARAMETERS.includes(argument.name))
  );
}

function getArgument(call: CallExpression, name: string, position: number): Expression | undefined {
  const isWanted = (argument: Argument) => argument.kind === "named" && argument.name === name;
  const positional = call.args[position];
  return call.args.find(isWanted)?.value ?? (positional?.kind === "positional" ? positional.value : undefined);
}

function readTexts(expression: Expression): "everything" | readonly string[] {
  if (expression.kind === "constant") return typeof expression.value === "string" ? [expression.value] : [];
  if (expression.kind !== "list") return "everything";
  const texts = expression.items.map(readTexts);
  return texts.includes("everything") ? "everything" : texts.flatMap((found) => (found === "everything" ? [] : found));
}

function readOther(statement: Statement, piece: string, isWhole: boolean): "everything" | readonly string[] {
  const isDocumentation = statement.kind === "expression" && statement.expression.kind === "constant";
  return (isDocumentation && isWhole) || statement.kind === "pass" ? [] : readWords(piece);
}

/** Strings; of one line also without their end, so that an unterminated one is searched for its end once. */
const STRING = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/g;

/** Prefixed strings, attributes, indices, and the functions that return strings. */
const STRING_BUILDING = /[A-Za-z]""|\.\s*[A-Za-z]|[\w")\]]\[|\b(?:str|repr|chr|type|dir|getattr)\b/;

/** Every string in a text that cannot be parsed; everything when the text builds strings or has an unterminated one. */
function readWords(piece: string): "everything" | readonly string[] {
  const withoutComments = piece.replace(new RegExp(`(${STRING.source})|#[^\\n]*`, "g"), "$1");
  const strings = withoutComments.match(STRING) ?? [];
  const rest = withoutComments.replace(STRING, '""');
  const buildsStrings = /[+%*"'\\]/.test(rest.replaceAll('""', "")) || STRING_BUILDING.test(rest);
  const isReadable = (text: string) => text.length > 1 && text.endsWith(text[0]!) && !text.includes("\\");
  if (buildsStrings || !strings.every(isReadable)) return "everything";
  return strings.map((text) => text.replace(/^("""|'''|"|')([\s\S]*)\1$/, "$2"));
}
