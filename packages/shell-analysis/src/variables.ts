import { MAX_VALUE_LENGTH, MAX_VARIABLE_VALUES } from "./limits.js";
import { getText, type SyntaxNode, type SyntaxTree } from "./syntax-tree.js";
import { isUnknown, UNKNOWN } from "./unknown.js";
import { type GetVariable, readValue, readWords } from "./words.js";

/** Values that a script gives to its variables, anywhere in it. */
export interface Variables {
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Whether a variable is set by another part of the command, to an unknown value. */
  isAssigned(name: string): boolean;
}

/** `IFS` separates words unless it is changed. */
const INITIAL: ReadonlyMap<string, readonly string[]> = new Map([["IFS", [" "]]]);

/** Declarations and settings that change values, or how they are split, in ways that are not followed. */
const CHANGES = /\bIFS=|\b(?:declare|typeset|local|readonly|export)\s+-\w*[iluncLRZEF]|\b(?:integer|float)\s/;

/** The values of each variable, first as they are written and then with the values of others in them. */
export function collectVariables(tree: SyntaxTree, isAssigned: (name: string) => boolean): Variables {
  let variables: Variables = { values: INITIAL, isAssigned };
  for (let round = 0; round < 2; round += 1) {
    const values = new Map<string, string[]>();
    const add = (name: string, found: readonly string[]) => {
      const all = values.get(name) ?? [];
      values.set(name, [...new Set([...all, ...found])].slice(0, MAX_VARIABLE_VALUES));
    };
    visit(tree, tree.root, toGetVariable(variables, 0), add);
    const isChanged = CHANGES.test(tree.script);
    const bounded = [...values].map(([name, found]) => [name, found.map((value) => bound(value, isChanged))] as const);
    variables = { values: new Map([...INITIAL, ...bounded]), isAssigned };
  }
  return variables;
}

const bound = (value: string, isChanged: boolean): string =>
  isUnknown(value) || isChanged || value.length > MAX_VALUE_LENGTH ? value.slice(0, MAX_VALUE_LENGTH) + UNKNOWN : value;

/** With the value of this number of each variable, or its last one. */
export const toGetVariable =
  ({ values, isAssigned }: Variables, choice: number): GetVariable =>
  (name) => {
    const all = values.get(name);
    return all === undefined
      ? isAssigned(name)
        ? `$${name}${UNKNOWN}`
        : undefined
      : all[Math.min(choice, all.length - 1)];
  };

/** The number of different choices of values. */
export const countChoices = ({ values }: Variables): number =>
  Math.max(1, ...[...values.values()].map((all) => all.length));

function visit(
  tree: SyntaxTree,
  node: SyntaxNode,
  getVariable: GetVariable,
  add: (name: string, values: readonly string[]) => void,
): void {
  if (node.type === "variable_assignment") {
    const [name, operator, value] = node.children;
    const text = value === undefined ? "" : readValue(tree, value, getVariable);
    const [target = "", subscript] = name === undefined ? [] : getText(tree, name).split("[", 2);
    const isPlain = value?.type !== "array" && operator?.type === "=" && subscript === undefined;
    add(target, [isPlain ? text : text + UNKNOWN]);
  }
  if (node.type === "for_statement") {
    const at = node.children.findIndex(({ type }) => type === "in");
    const [, name] = node.children;
    const words = node.children.slice(at + 1).filter(({ type }) => type !== ";" && type !== "do_group");
    const values = at === -1 ? [UNKNOWN] : words.flatMap((word) => readWords(tree, word, getVariable));
    if (name !== undefined)
      add(
        getText(tree, name),
        values.length > MAX_VARIABLE_VALUES ? [...values.slice(0, MAX_VARIABLE_VALUES - 1), UNKNOWN] : values,
      );
  }
  for (const child of node.children) visit(tree, child, getVariable, add);
}
