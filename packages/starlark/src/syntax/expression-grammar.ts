import type { Expression } from "./syntax.js";
import type { TokenReader } from "./token-reader.js";

/** The parts of the expression parser that its own parts call back. */
export interface ExpressionGrammar {
  /** One expression: a conditional, a lambda or anything that binds tighter. */
  parseExpression(reader: TokenReader): Expression;
  /** Binary operators of `level` (0 is `or`) and above. */
  parseOperation(reader: TokenReader, level: number): Expression;
}
