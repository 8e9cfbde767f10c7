/** The syntax tree of an expression. `at` is the UTF-16 offset that messages point to. */

export type Expression =
  | { readonly kind: "constant"; readonly at: number; readonly value: bigint | number | string }
  | { readonly kind: "ellipsis"; readonly at: number }
  | { readonly kind: "name"; readonly at: number; readonly name: string }
  | { readonly kind: "format-string"; readonly at: number; readonly parts: readonly FormatPart[] }
  | { readonly kind: "list" | "tuple"; readonly at: number; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly at: number; readonly entries: readonly DictEntry[] }
  | ListComprehension
  | DictComprehension
  | { readonly kind: "unary"; readonly at: number; readonly operator: UnaryOperator; readonly operand: Expression }
  | BinaryExpression
  | { readonly kind: "and" | "or"; readonly at: number; readonly left: Expression; readonly right: Expression }
  | ConditionalExpression
  | CallExpression
  | { readonly kind: "attribute"; readonly at: number; readonly object: Expression; readonly name: string }
  | { readonly kind: "index"; readonly at: number; readonly object: Expression; readonly index: Expression }
  | SliceExpression
  | LambdaExpression;

/** Plain text, or an expression with `!r` or without. */
export type FormatPart = string | { readonly expression: Expression; readonly repr: boolean };

export interface DictEntry {
  readonly key: Expression;
  readonly value: Expression;
}

export type UnaryOperator = "+" | "-" | "~" | "not";

export type BinaryOperator =
  | ("+" | "-" | "*" | "/" | "//" | "%" | "|" | "&" | "^" | "<<" | ">>")
  | ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in");

interface BinaryExpression {
  readonly kind: "binary";
  readonly at: number;
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

interface ConditionalExpression {
  readonly kind: "conditional";
  readonly at: number;
  readonly condition: Expression;
  readonly consequent: Expression;
  readonly alternate: Expression;
}

/** `callee(args)` */
export interface CallExpression {
  readonly kind: "call";
  readonly at: number;
  readonly callee: Expression;
  readonly args: readonly Argument[];
}

/** An argument of a call. */
export type Argument =
  | { readonly kind: "positional" | "star" | "double-star"; readonly at: number; readonly value: Expression }
  | { readonly kind: "named"; readonly at: number; readonly name: string; readonly value: Expression };

export interface SliceExpression {
  readonly kind: "slice";
  readonly at: number;
  readonly object: Expression;
  readonly start: Expression | undefined;
  readonly stop: Expression | undefined;
  readonly step: Expression | undefined;
}

export interface LambdaExpression {
  readonly kind: "lambda";
  readonly at: number;
  readonly parameters: readonly Parameter[];
  readonly body: Expression;
}

export interface Parameter {
  /** `star` and `double-star` collect the rest; a `star` without a name only ends the positional parameters. */
  readonly kind: "plain" | "star" | "double-star";
  readonly at: number;
  readonly name: string | undefined;
  readonly fallback: Expression | undefined;
}

export type ComprehensionClause =
  | { readonly kind: "for"; readonly at: number; readonly target: Target; readonly iterable: Expression }
  | { readonly kind: "if"; readonly at: number; readonly condition: Expression };

export type ListComprehension = Comprehension<"list-comprehension"> & { readonly element: Expression };

export type DictComprehension = Comprehension<"dict-comprehension"> & { readonly entry: DictEntry };

interface Comprehension<Kind extends string> {
  readonly kind: Kind;
  readonly at: number;
  readonly clauses: readonly ComprehensionClause[];
}

export type Target =
  | { readonly kind: "name"; readonly at: number; readonly name: string }
  | { readonly kind: "index"; readonly at: number; readonly object: Expression; readonly index: Expression }
  | { readonly kind: "unpack"; readonly at: number; readonly targets: readonly Target[] };

/** A statement; `at` is its UTF-16 offset. */
export type Statement =
  | { readonly kind: "expression"; readonly at: number; readonly expression: Expression }
  | { readonly kind: "assign"; readonly at: number; readonly target: Target; readonly value: Expression }
  | AugmentedAssignment
  | IfStatement
  | ForStatement
  | FunctionDefinition
  | { readonly kind: "return"; readonly at: number; readonly value: Expression | undefined }
  | { readonly kind: "break" | "continue" | "pass"; readonly at: number };

export interface AugmentedAssignment {
  readonly kind: "augmented-assign";
  readonly at: number;
  readonly target: Exclude<Target, { kind: "unpack" }>;
  readonly operator: BinaryOperator;
  readonly value: Expression;
}

export interface IfStatement {
  readonly kind: "if";
  readonly at: number;
  readonly branches: readonly Branch[];
  readonly otherwise: readonly Statement[];
}

/** `if` or `elif`. */
export interface Branch {
  readonly condition: Expression;
  readonly body: readonly Statement[];
}

export interface ForStatement {
  readonly kind: "for";
  readonly at: number;
  readonly target: Target;
  readonly iterable: Expression;
  readonly body: readonly Statement[];
}

export interface FunctionDefinition {
  readonly kind: "def";
  readonly at: number;
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
}
