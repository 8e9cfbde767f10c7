import { messageOf } from "@codex/values";

/** Longest name that is compared with a regular expression, characters. */
const MAX_NAME = 1_000;

/** Why a matcher cannot be used; undefined if it can. */
export function findMatcherProblem(matcher: string): string | undefined {
  if (isEverything(matcher) || isExact(matcher)) return undefined;
  try {
    compile(matcher);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Whether a hook with this matcher is for something with one of these names. */
export function matches(matcher: string | undefined, names: readonly string[]): boolean {
  if (matcher === undefined || isEverything(matcher)) return true;
  if (isExact(matcher)) return matcher.split("|").some((each) => names.includes(each));
  const expression = compile(matcher);
  return names.some((name) => expression.test(name.slice(0, MAX_NAME)));
}

const isEverything = (matcher: string) => matcher === "" || matcher === "*";

const isExact = (matcher: string) => /^[A-Za-z0-9_|]+$/.test(matcher);

/** Flags at the beginning are those of Rust, in which hooks of Codex are written. */
function compile(matcher: string): RegExp {
  const flags = /^\(\?([imsu]+)\)/.exec(matcher);
  const own = [...new Set(flags?.[1]?.replaceAll("u", "") ?? "")].join("");
  return new RegExp(flags === null ? matcher : matcher.slice(flags[0].length), `${own}u`);
}
