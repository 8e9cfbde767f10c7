import { createErrorAt } from "../errors.js";
import { MAX_SYNTAX_DEPTH } from "../limits.js";
import type { Source } from "../source.js";
import { getTokenLabel, type Token } from "./tokens.js";

/** A position in a list of tokens, shared by the parts of the parser. */
export class TokenReader {
  private index = 0;
  private depth = 0;

  constructor(
    readonly source: Source,
    private readonly tokens: readonly Token[],
  ) {}

  peek(): Token {
    const token = this.tokens[Math.min(this.index, this.tokens.length - 1)];
    if (token === undefined) throw new Error("a list of tokens ends with an `end` token");
    return token;
  }

  next(): Token {
    const token = this.peek();
    this.index += 1;
    return token;
  }

  is(...texts: readonly string[]): boolean {
    const token = this.peek();
    return (token.kind === "symbol" || token.kind === "keyword") && texts.includes(token.text);
  }

  /** Consumes the token when it is this symbol or keyword. */
  take(text: string): boolean {
    if (!this.is(text)) return false;
    this.index += 1;
    return true;
  }

  expect(text: string): Token {
    return this.is(text) ? this.next() : this.failExpected(`\`${text}\``);
  }

  expectName(): Token {
    return this.peek().kind === "name" ? this.next() : this.failExpected("a name");
  }

  takeKind(kind: Token["kind"]): boolean {
    if (this.peek().kind !== kind) return false;
    this.index += 1;
    return true;
  }

  expectKind(kind: Token["kind"], label: string): Token {
    return this.peek().kind === kind ? this.next() : this.failExpected(label);
  }

  /** Runs `parse` one syntax level deeper. */
  nest<T>(parse: () => T): T {
    this.depth += 1;
    if (this.depth > MAX_SYNTAX_DEPTH) {
      this.fail(this.peek().at, `brackets and blocks are nested deeper than ${MAX_SYNTAX_DEPTH} levels`, "Nest less.");
    }
    const result = parse();
    this.depth -= 1;
    return result;
  }

  failExpected(label: string): never {
    const token = this.peek();
    return this.fail(token.at, `found ${getTokenLabel(token)} where ${label} is expected`, "Correct the syntax.");
  }

  fail(at: number, problem: string, advice: string): never {
    throw createErrorAt(this.source, at, problem, advice);
  }
}
