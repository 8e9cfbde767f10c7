/** What an expression consists of, as far as texts that match it are made from it. */
export type Node =
  /** A character or set of characters, as it is written. */
  | { kind: "set"; raw: string }
  /** Also a lookahead, which needs this text to follow. */
  | { kind: "group"; alternatives: Node[][] }
  | { kind: "repeat"; node: Node; min: number; max: number }
  /** Matches no text of its own: an anchor, a negative or backward assertion, a reference. */
  | { kind: "nothing" };

/** Parses the source of a valid expression. */
export function parseExpression(source: string): Node {
  let at = 0;
  const take = (expression: RegExp): string | undefined => {
    const sticky = new RegExp(expression.source, `${expression.flags}y`);
    sticky.lastIndex = at;
    const found = sticky.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };

  const parseAlternatives = (): Node[][] => {
    const alternatives: Node[][] = [[]];
    while (at < source.length && source[at] !== ")") {
      if (take(/\|/) !== undefined) alternatives.push([]);
      else alternatives.at(-1)!.push(parseQuantifier(parseTerm()));
    }
    return alternatives;
  };

  const parseTerm = (): Node => {
    const opening = take(/\((?:\?(?:[:=!]|<[=!]|<\w+>))?/);
    if (opening !== undefined) {
      const alternatives = parseAlternatives();
      take(/\)/);
      const isSilent = /^\(\?(?:<?!|<=)/.test(opening);
      return isSilent ? { kind: "nothing" } : { kind: "group", alternatives };
    }
    if (take(/[$^]|\\[bB]|\\[1-9]\d*|\\k<\w+>/) !== undefined) return { kind: "nothing" };
    const raw =
      take(/\[(?:\\.|[^\]\\])*\]/s) ??
      take(/\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|.)/s) ??
      take(/[\ud800-\udbff][\udc00-\udfff]|./s);
    return { kind: "set", raw: raw! };
  };

  const parseQuantifier = (node: Node): Node => {
    const quantifier = take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/);
    if (quantifier === undefined) return node;
    const [, least, comma, most] = /^\{(\d+)(,?)(\d*)/.exec(quantifier) ?? [];
    const min = least === undefined ? (quantifier.startsWith("+") ? 1 : 0) : Number(least);
    const unbounded = least === undefined ? !quantifier.startsWith("?") : comma !== "" && most === "";
    const max = unbounded ? Number.POSITIVE_INFINITY : least === undefined ? 1 : Number(most || least);
    return { kind: "repeat", node, min, max };
  };

  return { kind: "group", alternatives: parseAlternatives() };
}
