import { createErrorAt } from "../errors.js";
import { MAX_EVALUATION_DEPTH } from "../limits.js";
import type { Source } from "../source.js";
import type {
  ComprehensionClause,
  DictComprehension,
  Expression,
  FunctionDefinition,
  LambdaExpression,
  ListComprehension,
  Parameter,
  Statement,
  Target,
} from "./syntax.js";

/** The names a module, a function, a lambda or a comprehension declares. */
export type Names = ReadonlySet<string>;

/** Syntax that opens a scope of its own. */
export type Scoped = FunctionDefinition | LambdaExpression | ListComprehension | DictComprehension;

export interface Scopes {
  readonly module: Names;
  readonly inner: ReadonlyMap<Scoped, Names>;
}

/** Collects the names that each scope declares. @throws StarlarkError at an undeclared name, even in code that never runs */
export function resolveScopes(source: Source, program: readonly Statement[], builtins: Names): Scopes {
  const module = new Set<string>();
  declareAll(program, module);
  const resolver = new Resolver(source);
  resolver.visitAll(program, [builtins, module]);
  return { module, inner: resolver.inner };
}

/** Names that statements bind in their own scope; the bodies of functions bind in theirs. */
function declareAll(statements: readonly Statement[], names: Set<string>): void {
  for (const statement of statements) {
    switch (statement.kind) {
      case "assign":
      case "augmented-assign":
        declareTarget(statement.target, names);
        break;
      case "def":
        names.add(statement.name);
        break;
      case "for":
        declareTarget(statement.target, names);
        declareAll(statement.body, names);
        break;
      case "if":
        for (const branch of statement.branches) declareAll(branch.body, names);
        declareAll(statement.otherwise, names);
        break;
      default:
    }
  }
}

function declareTarget(target: Target, names: Set<string>): void {
  if (target.kind === "name") names.add(target.name);
  if (target.kind === "unpack") for (const part of target.targets) declareTarget(part, names);
}

class Resolver {
  readonly inner = new Map<Scoped, Names>();
  private depth = 0;

  constructor(private readonly source: Source) {}

  visitAll(statements: readonly Statement[], scopes: readonly Names[]): void {
    for (const statement of statements) this.visitStatement(statement, scopes);
  }

  private visitStatement(statement: Statement, scopes: readonly Names[]): void {
    switch (statement.kind) {
      case "expression":
        return this.visit(statement.expression, scopes);
      case "assign":
      case "augmented-assign":
        this.visit(statement.value, scopes);
        return this.visitTarget(statement.target, scopes);
      case "if":
        for (const { condition, body } of statement.branches) {
          this.visit(condition, scopes);
          this.visitAll(body, scopes);
        }
        return this.visitAll(statement.otherwise, scopes);
      case "for":
        this.visit(statement.iterable, scopes);
        this.visitTarget(statement.target, scopes);
        return this.visitAll(statement.body, scopes);
      case "def": {
        const names = this.openFunction(statement, scopes);
        declareAll(statement.body, names);
        return this.visitAll(statement.body, [...scopes, names]);
      }
      case "return":
        return this.visitOptional([statement.value], scopes);
      default:
    }
  }

  private openFunction(scoped: FunctionDefinition | LambdaExpression, scopes: readonly Names[]): Set<string> {
    const names = new Set<string>();
    for (const parameter of scoped.parameters) this.visitParameter(parameter, names, scopes);
    this.inner.set(scoped, names);
    return names;
  }

  private visitParameter(parameter: Parameter, names: Set<string>, scopes: readonly Names[]): void {
    if (parameter.name !== undefined) names.add(parameter.name);
    this.visitOptional([parameter.fallback], scopes);
  }

  private visitTarget(target: Target, scopes: readonly Names[]): void {
    if (target.kind === "index") this.visitOptional([target.object, target.index], scopes);
    if (target.kind === "unpack") for (const part of target.targets) this.visitTarget(part, scopes);
  }

  private visitOptional(expressions: readonly (Expression | undefined)[], scopes: readonly Names[]): void {
    for (const expression of expressions) if (expression !== undefined) this.visit(expression, scopes);
  }

  private visit(expression: Expression, scopes: readonly Names[]): void {
    this.depth += 1;
    if (this.depth > MAX_EVALUATION_DEPTH) {
      throw createErrorAt(
        this.source,
        expression.at,
        `this expression is nested deeper than ${MAX_EVALUATION_DEPTH} levels`,
        "Split it into several assignments.",
      );
    }
    this.visitInside(expression, scopes);
    this.depth -= 1;
  }

  private visitInside(expression: Expression, scopes: readonly Names[]): void {
    switch (expression.kind) {
      case "name":
        return this.checkDeclared(expression.name, expression.at, scopes);
      case "format-string":
        return this.visitOptional(
          expression.parts.map((part) => (typeof part === "string" ? undefined : part.expression)),
          scopes,
        );
      case "list":
      case "tuple":
        return this.visitOptional(expression.items, scopes);
      case "dict":
        return this.visitOptional(
          expression.entries.flatMap(({ key, value }) => [key, value]),
          scopes,
        );
      case "list-comprehension":
      case "dict-comprehension":
        return this.visitComprehension(expression, scopes);
      case "unary":
        return this.visit(expression.operand, scopes);
      case "binary":
      case "and":
      case "or":
        return this.visitOptional([expression.left, expression.right], scopes);
      case "conditional":
        return this.visitOptional([expression.condition, expression.consequent, expression.alternate], scopes);
      case "call":
        return this.visitOptional([expression.callee, ...expression.args.map(({ value }) => value)], scopes);
      case "attribute":
        return this.visit(expression.object, scopes);
      case "index":
        return this.visitOptional([expression.object, expression.index], scopes);
      case "slice":
        return this.visitOptional([expression.object, expression.start, expression.stop, expression.step], scopes);
      case "lambda":
        return this.visit(expression.body, [...scopes, this.openFunction(expression, scopes)]);
      default:
    }
  }

  /** The first iterable belongs to the scope around the comprehension, everything else to its own. */
  private visitComprehension(comprehension: ListComprehension | DictComprehension, scopes: readonly Names[]): void {
    const names = new Set<string>();
    const inside = [...scopes, names];
    this.inner.set(comprehension, names);
    comprehension.clauses.forEach((clause, index) => {
      this.visitClause(clause, names, inside, index === 0 ? scopes : inside);
    });
    if (comprehension.kind === "list-comprehension") this.visit(comprehension.element, inside);
    else this.visitOptional([comprehension.entry.key, comprehension.entry.value], inside);
  }

  private visitClause(
    clause: ComprehensionClause,
    names: Set<string>,
    inside: readonly Names[],
    iterableScopes: readonly Names[],
  ): void {
    if (clause.kind === "if") return this.visit(clause.condition, inside);
    this.visit(clause.iterable, iterableScopes);
    declareTarget(clause.target, names);
    this.visitTarget(clause.target, inside);
  }

  private checkDeclared(name: string, at: number, scopes: readonly Names[]): void {
    if (scopes.some((names) => names.has(name))) return;
    const known = [...(scopes[0] ?? [])].filter((candidate) => !candidate.startsWith("_")).join(", ");
    throw createErrorAt(this.source, at, `the name \`${name}\` is not defined`, `Built in are: ${known}.`);
  }
}
