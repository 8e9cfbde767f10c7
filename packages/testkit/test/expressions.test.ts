import { fileURLToPath } from "node:url";
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { type Attack, listAttacks } from "./expressions/attacks.js";
import { collectExpressions, type Expression } from "./expressions/collect.js";

/** Expressions that take more than linear time, and what bounds the text that they are applied to. */
const BOUNDED: readonly [RegExp, string][] = [
  [
    /(?:[-.](?:static|distrib|real|orig|bin|restricted|stable|preview|beta)|(?=([-_.]?\d+(?:\.+\d+)*))\1)+\.*$/,
    "a name of a program: MAX_NAME in program-name.ts",
  ],
  [
    /^(codex: option '[^']*') argument '.*' is invalid\. Expected (.*, got ".*")\.$/,
    "arguments of the command itself: ARG_MAX of the system",
  ],
  [
    /^codex: command-argument value '.*' is invalid for (argument '[^']*')\. Expected (.*)\.$/,
    "arguments of the command itself: ARG_MAX of the system",
  ],
];

const expressions = collectExpressions(fileURLToPath(new URL("../../", import.meta.url)));
/** Characters of a text that repeats one; texts that repeat a longer word are longer, as fewer of its characters begin a match. */
const LENGTH = 2500;
/** A search of such a text takes some ten microseconds when it is linear, and several milliseconds when it is quadratic, ms. */
const SLOW_MS = 1;
const SEARCH_MS = 5000;

it("matches text of any length in linear time, except where the text is bounded", { timeout: 300_000 }, () => {
  expect(expressions.length).toBeGreaterThan(700);
  const slow = expressions.flatMap((expression) => {
    const attack = findSlowAttack(expression);
    return attack === undefined ? [] : [{ ...expression, attack }];
  });
  const bounded = BOUNDED.map(([{ source }]) => source);
  expect(slow.filter(({ source }) => !bounded.includes(source))).toEqual([]);
  const sources = slow.map(({ source }) => source);
  expect(bounded.filter((source) => !sources.includes(source))).toEqual([]);
});

/** The first attack that takes more than linear time. */
function findSlowAttack({ source, flags }: Expression): Attack | undefined {
  const expression = new RegExp(source, flags);
  const attacks = listAttacks(source, flags);
  let at = 0;
  const search = () => {
    while (at < attacks.length && !isSlow(expression, attacks[at]!)) at += 1;
  };
  while (!endsInTime(search)) {
    if (!endsInTime(() => isSlow(expression, attacks[at]!))) break;
    at += 1;
  }
  return attacks[at];
}

/** Ends a search that takes exponential time: only a timeout of V8 does. */
function endsInTime(run: () => void): boolean {
  const shared = globalThis as { run?: () => void };
  shared.run = run;
  try {
    runInThisContext("globalThis.run()", { timeout: SEARCH_MS });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw error;
  } finally {
    delete shared.run;
  }
}

function isSlow(expression: RegExp, attack: Attack): boolean {
  if (measure(expression, repeat(attack, LENGTH)) < SLOW_MS) return false;
  // Longer than any bounded repetition, whose time grows up to that length.
  const [short, long] = [repeat(attack, 2 * LENGTH), repeat(attack, 8 * LENGTH)];
  // The best of three times: threads of V8 count as well, which collect garbage and compile.
  const best = Math.min(...Array.from({ length: 3 }, () => measure(expression, short)));
  const limit = 8 * Math.max(SLOW_MS, best);
  for (let tries = 0; tries < 3; tries += 1) if (measure(expression, long) <= limit) return false;
  return true;
}

const repeat = ({ before, repeated, after }: Attack, length: number): string =>
  before + repeated.repeat(Math.ceil(length / Math.sqrt(repeated.length))) + after;

/** Milliseconds of processor time. */
function measure(expression: RegExp, text: string): number {
  expression.lastIndex = 0;
  const before = process.cpuUsage();
  text.replace(expression, "");
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
