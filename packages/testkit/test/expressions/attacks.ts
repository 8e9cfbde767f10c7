import { type Node, parseExpression } from "./parse.js";

/** A text that may take an expression long: `before`, `repeated` many times, `after`. */
export interface Attack {
  before: string;
  repeated: string;
  after: string;
}

/** Characters that stand for those of a set. */
const CANDIDATES = [
  ..."a A0 -_./:=\"'`<>(){}[]\\,;|&$#@!?*+~%^\n\t\reExZ9",
  "\u0000",
  "\u0007",
  "\u001b",
  "é",
  "\u200b",
  "\u2028",
  "\ud800",
  "\u{1f600}",
];
/** Characters below U+3000: what escapes of other characters may mean. */
const BASIC = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
/** A quantifier that allows as many more repetitions is taken for unbounded. */
const MANY = 50;
/** Alternatives and members of sets that are tried. */
const VARIANTS = 8;
const AFTER = ["", "\u0000\n\u0000"];

/** What an unbounded quantifier repeats, and what precedes it. */
interface Repetition {
  node: Node;
  before: Node[];
}

/**
 * Texts made of what an expression itself contains: its characters, pairs of them, and what each of its unbounded quantifiers
 * repeats, after what has to precede it. None when it has no such quantifier.
 */
export function listAttacks(source: string, flags: string): Attack[] {
  const whole = parseExpression(source);
  const samples = new Samples(flags);
  const repetitions = listRepetitions(whole, []);
  if (repetitions.length === 0) return [];
  const found = new Map<string, { before: string; repeated: string }>();
  const add = (before: string, repeated: string) => {
    if (repeated !== "") found.set(JSON.stringify([before, repeated]), { before, repeated });
  };
  const alphabet = [...new Set(listSets(whole).flatMap((raw) => samples.listMembers(raw).slice(0, 4)))];
  for (const one of alphabet.slice(0, 60)) for (const before of ["", "\u0000"]) add(before, one);
  for (const one of alphabet.slice(0, 10)) for (const two of alphabet.slice(0, 10)) add("", one + two);
  const variants = Array.from({ length: VARIANTS }, (_, variant) => variant);
  for (const variant of variants) for (const times of [0, 1]) add("", samples.of([whole], variant, times));
  for (const { node, before } of repetitions) {
    for (const variant of variants) {
      const repeated = samples.of([node], variant, 1);
      for (const path of new Set(["", samples.of(before, variant, 0), samples.of(before, 0, 1)])) {
        add(path, repeated);
        add(path, samples.of([node], variant, 0));
        add("", path + repeated);
        if (variant === 0) for (const one of alphabet.slice(0, 16)) add(path, one);
      }
    }
  }
  return [...found.values()].flatMap((attack) => AFTER.map((after) => ({ ...attack, after })));
}

function listRepetitions(node: Node, before: Node[]): Repetition[] {
  if (node.kind === "repeat") {
    const own = node.max - node.min > MANY ? [{ node: node.node, before }] : [];
    return [...own, ...listRepetitions(node.node, before)];
  }
  if (node.kind !== "group") return [];
  return node.alternatives.flatMap((sequence) =>
    sequence.flatMap((each, at) => listRepetitions(each, [...before, ...sequence.slice(0, at)])),
  );
}

function listSets(node: Node): string[] {
  if (node.kind === "set") return [node.raw];
  if (node.kind === "repeat") return listSets(node.node);
  return node.kind === "group" ? node.alternatives.flat().flatMap(listSets) : [];
}

class Samples {
  readonly #flags: string;
  readonly #members = new Map<string, string[]>();

  constructor(flags: string) {
    this.#flags = flags.replace(/[gy]/g, "");
  }

  /** A short text that a sequence matches: of each choice the one with this number, of each repetition `times` where that is allowed. */
  of(sequence: readonly Node[], variant: number, times: number): string {
    return sequence.map((node) => this.#ofNode(node, variant, times)).join("");
  }

  /** Characters of a set: the first ones that it names, and candidates that it contains. */
  listMembers(raw: string): string[] {
    const known = this.#members.get(raw);
    if (known !== undefined) return known;
    const expression = new RegExp(`^${raw}$`, this.#flags);
    const matching = (characters: readonly string[]) => characters.filter((one) => expression.test(one));
    const members = [...new Set([...matching([...raw]).slice(0, 6), ...matching(CANDIDATES)])].slice(0, VARIANTS + 6);
    if (members.length === 0) members.push(...matching(BASIC).slice(0, 2));
    this.#members.set(raw, members);
    return members;
  }

  #ofNode(node: Node, variant: number, times: number): string {
    switch (node.kind) {
      case "nothing":
        return "";
      case "group":
        return this.of(node.alternatives[variant % node.alternatives.length]!, variant, times);
      case "repeat":
        return this.of([node.node], variant, times).repeat(Math.min(Math.max(node.min, times), node.max));
      case "set": {
        const members = this.listMembers(node.raw);
        return members[variant % members.length] ?? "";
      }
    }
  }
}
