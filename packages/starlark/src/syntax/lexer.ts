import { createErrorAt } from "../errors.js";
import type { Source } from "../source.js";
import { decodeString, readStringLiteral } from "./string-literals.js";
import { KEYWORDS, RESERVED_WORDS, SYMBOLS, type Token } from "./tokens.js";

/** All tokens of a file, blocks marked by `indent` and `dedent`, closed by `end`. */
export function readTokens(source: Source): Token[] {
  return new Lexer(source, 0, source.text.length, false).readAll();
}

/**
 * The tokens of the expression inside an f-string that starts at `start`. Ends before the first `}` or `!` that
 * belongs to no bracket; the `end` token is at that offset.
 */
export function readEmbeddedTokens(source: Source, start: number, end: number): Token[] {
  return new Lexer({ file: source.file, text: source.text.slice(0, end) }, start, end, true).readAll();
}

class Lexer {
  private readonly tokens: Token[] = [];
  private readonly indents = [0];
  /** Offsets of the brackets that are open. */
  private readonly brackets: number[] = [];

  constructor(
    private readonly source: Source,
    private at: number,
    private readonly end: number,
    private readonly embedded: boolean,
  ) {}

  readAll(): Token[] {
    if (!this.embedded) this.readIndentation();
    while (this.at < this.end) {
      if (
        this.embedded &&
        this.brackets.length === 0 &&
        /^(?:\}|!(?!=))/.test(this.source.text.slice(this.at, this.at + 2))
      )
        break;
      this.readNext();
    }
    if (!this.embedded) this.closeFile();
    this.push({ kind: "end", text: "", at: this.at });
    return this.tokens;
  }

  private readNext(): void {
    const { text } = this.source;
    const character = text[this.at];
    if (character === " ") this.at += 1;
    else if (character === "#") this.skipComment();
    else if (text.startsWith("\\\n", this.at)) this.at += 2;
    else if (text.startsWith("\\\r\n", this.at)) this.at += 3;
    else if (character === "\n" || character === "\r") this.readLineEnd();
    else if (character === "\t") this.fail("a tab is not allowed here", "Use spaces.");
    else if (!this.readString() && !this.readNumber() && !this.readWord()) this.readSymbol();
  }

  private readLineEnd(): void {
    const length = this.source.text.startsWith("\r\n", this.at) ? 2 : 1;
    if (this.brackets.length === 0 && !this.embedded) this.push({ kind: "newline", text: "", at: this.at });
    this.at += length;
    if (this.brackets.length === 0 && !this.embedded) this.readIndentation();
  }

  /** Skips empty and comment lines, then compares the indentation of the next line with the open blocks. */
  private readIndentation(): void {
    const blank = /[ \t]*(?:#[^\n]*)?\r?(?:\n|$)/y;
    for (;;) {
      blank.lastIndex = this.at;
      const skipped = this.at < this.end ? blank.exec(this.source.text)?.[0] : undefined;
      if (skipped === undefined) break;
      this.at += skipped.length;
    }
    if (this.at >= this.end) return;
    const spaces = / */y;
    spaces.lastIndex = this.at;
    const width = spaces.exec(this.source.text)?.[0].length ?? 0;
    this.at += width;
    if (this.source.text[this.at] === "\t") this.fail("a tab is not allowed in indentation", "Use spaces.");
    this.closeBlocks(width);
    if (width > (this.indents.at(-1) ?? 0)) {
      this.indents.push(width);
      this.push({ kind: "indent", text: "", at: this.at });
    }
  }

  private closeBlocks(width: number): void {
    while (width < (this.indents.at(-1) ?? 0)) {
      this.indents.pop();
      this.push({ kind: "dedent", text: "", at: this.at });
      if (width > (this.indents.at(-1) ?? 0)) {
        this.fail("this line is indented like no block above it", "Align it with an enclosing block.");
      }
    }
  }

  private closeFile(): void {
    const open = this.brackets.at(-1);
    if (open !== undefined) throw createErrorAt(this.source, open, "this bracket is not closed", "Close it.");
    if (this.tokens.length > 0 && this.tokens.at(-1)?.kind !== "newline") {
      this.push({ kind: "newline", text: "", at: this.at });
    }
    this.closeBlocks(0);
  }

  private skipComment(): void {
    const lineEnd = this.source.text.indexOf("\n", this.at);
    this.at = lineEnd === -1 ? this.end : Math.min(lineEnd, this.end);
  }

  private readString(): boolean {
    const at = this.at;
    const literal = readStringLiteral(this.source, at);
    if (literal === undefined) return false;
    const { prefix, bodyStart, bodyEnd } = literal;
    if (prefix.includes("b")) this.fail("byte strings are not supported in rule files", "Write a plain string.");
    const raw = prefix.includes("r");
    const text = this.source.text.slice(at, literal.end);
    this.at = literal.end;
    if (prefix.includes("f")) this.push({ kind: "format-string", text, at, bodyStart, bodyEnd, raw });
    else this.push({ kind: "string", text, at, value: decodeString(this.source, bodyStart, bodyEnd, raw) });
    return true;
  }

  private readNumber(): boolean {
    const number = /0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+/y;
    number.lastIndex = this.at;
    const text = number.exec(this.source.text)?.[0];
    if (text === undefined) return false;
    if (/^0\d+$/.test(text)) this.fail(`an integer cannot start with 0, got \`${text}\``, "Remove the 0 or write 0o….");
    const isFloat = !/^0[xXoObB]/.test(text) && /[.eE]/.test(text);
    if (isFloat) this.push({ kind: "float", text, at: this.at, value: Number(text) });
    else this.push({ kind: "int", text, at: this.at, value: BigInt(text) });
    this.at += text.length;
    return true;
  }

  private readWord(): boolean {
    const word = /[A-Za-z_][A-Za-z0-9_]*/y;
    word.lastIndex = this.at;
    const text = word.exec(this.source.text)?.[0];
    if (text === undefined) return false;
    if (RESERVED_WORDS.has(text))
      this.fail(`\`${text}\` is reserved and cannot be used`, "Starlark has no such statement.");
    this.push({ kind: KEYWORDS.has(text) ? "keyword" : "name", text, at: this.at });
    this.at += text.length;
    return true;
  }

  private readSymbol(): void {
    const symbol = SYMBOLS.find((candidate) => this.source.text.startsWith(candidate, this.at));
    if (symbol === undefined) {
      const character = String.fromCodePoint(this.source.text.codePointAt(this.at) ?? 0);
      this.fail(`the character ${JSON.stringify(character)} means nothing here`, "Remove it or put it into a string.");
    }
    if ("([{".includes(symbol)) this.brackets.push(this.at);
    if (")]}".includes(symbol)) this.brackets.pop();
    this.push({ kind: "symbol", text: symbol, at: this.at });
    this.at += symbol.length;
  }

  private push(token: Token): void {
    this.tokens.push(token);
  }

  private fail(problem: string, advice: string): never {
    throw createErrorAt(this.source, this.at, problem, advice);
  }
}
