/** The environment of a program outside of its sandbox. */
export interface SelectedEnvironment {
  env: Readonly<Record<string, string>>;
  /** Names of variables of its caller that differ from the command's and are not in `env`. */
  dropped: readonly string[];
}

/**
 * The environment of the command, with what its caller changed and what can do no harm: variables choose programs and files, and
 * those of the sandbox must not be run or read outside. Pure.
 * @param named names that a rule passes as well; `*` at the end stands for the rest
 */
export function selectEnvironment(
  command: Readonly<Record<string, string>>,
  caller: Readonly<Record<string, string>>,
  named: readonly string[] = [],
): SelectedEnvironment {
  const changed = Object.entries(caller).filter(
    ([name, value]) => command[name] !== value && !SET_BY_OTHERS.test(name),
  );
  const isPassed = ([name, value]: [string, string]) =>
    (HARMLESS_NAME.test(name) && HARMLESS_VALUE.test(value)) || named.some((pattern) => matches(name, pattern));
  return {
    env: { ...command, ...Object.fromEntries(changed.filter(isPassed)) },
    dropped: changed.filter((each) => !isPassed(each)).map(([name]) => name),
  };
}

/** What shells set by themselves, and what a sandbox says of itself. */
const SET_BY_OTHERS = /^(?:PWD|OLDPWD|_|CODEX_SANDBOX(?:_NETWORK_DISABLED)?)$/;
const HARMLESS_NAME = /^(?:SHLVL|TERM|COLUMNS|LINES|LANG|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CI)$/;
/** No path: a locale, a terminal and a time zone may be files. */
const HARMLESS_VALUE = /^[A-Za-z0-9_.@+-]{0,64}$/;

const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
