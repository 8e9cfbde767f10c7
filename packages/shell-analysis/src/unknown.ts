import { MAX_LITERAL_OUTPUT } from "./limits.js";
import { lookupName } from "./program-name.js";

/** Marks a part of a text that is known only at run time. A script that contains this character itself needs approval. */
export const UNKNOWN = "\ufffe";

export const isUnknown = (text: string): boolean => text.includes(UNKNOWN);

export const withoutUnknown = (text: string): string => text.replaceAll(UNKNOWN, "");

/** The text, marked as known only in part. */
export const toUnknown = (text: string): string => `${withoutUnknown(text)}${UNKNOWN}`;

/** A word of which a part is unknown. A parameter such as `$1` alone does not count: it is known where the function or script is called. */
export const isUncertain = (word: string): boolean =>
  isUnknown(word) && !/^\$(?:[\d@*#]|\{[\d@*]\})(?:\/.*)?$/s.test(withoutUnknown(word));

/** Options and names may be cut off a word, and words may be joined. */
export const isPartOf = (word: string, script: string): boolean =>
  word === "" || script === "" ? word === script : script.includes(word) || word.includes(script);

type Words = readonly string[];

/** What is cut out of a word of which a part is unknown is unknown as well: `env -S "$x y"`. */
export const listUncertain = (words: Words, { argv, uncertain }: { argv: Words; uncertain: ReadonlySet<string> }) => {
  if (uncertain.size === 0) return uncertain;
  const whole = new Set(argv);
  const cut = words.filter((word) => word !== "" && !whole.has(word));
  return new Set([...uncertain, ...cut.filter((word) => [...uncertain].some((each) => each.includes(word)))]);
};

/** One text, marked once at its end where a part of it, or what is over the bound, is unknown. */
export function joinTexts(texts: readonly string[]): string {
  const all = texts.join("");
  const isWhole = all.length <= MAX_LITERAL_OUTPUT && !isUnknown(all);
  return isWhole ? all : toUnknown(all.slice(0, MAX_LITERAL_OUTPUT));
}

/** Variables that a shell sets itself. */
const OWN_VARIABLES =
  /^(?:PWD|OLDPWD|REPLY|OPTARG|OPTIND|DIRSTACK|FUNCNAME|MAPFILE|COPROC|RANDOM|SECONDS|LINENO|PIPESTATUS|HISTCMD|MATCH|PPID|UID|BASH_\w+)$/;

/** A variable of the environment, which no script of this command has set. */
export const isEnvironment = (name: string): boolean => /^[A-Z][A-Z0-9_]*$/.test(name) && !OWN_VARIABLES.test(name);

/** Programs that print nothing, a fact about the host, or a part of a literal argument. */
const SETTLED: ReadonlySet<string> = new Set(
  [
    ": true false cd pushd popd set shopt export unset local declare typeset readonly shift test [ [[ exit return break continue wait sleep kill",
    "mkdir touch cp mv rm rmdir chmod chown ln pwd which whereis type dirname realpath readlink whoami id uname nproc arch hostname mktemp tty",
  ]
    .join(" ")
    .split(" "),
);

/** Commands that print paths of tools or their shell integration. */
const SETTLED_LINES = [
  /^command -v \S+$/,
  /^basename [^ -]\S*$/,
  /^git rev-parse(?: --(?:show-toplevel|short|abbrev-ref|git-dir|git-common-dir|is-inside-work-tree|verify))*(?: HEAD)?$/,
  /^go env [A-Z]+$/,
  /^(?:npm|pnpm|yarn) (?:root|bin|prefix|global bin)(?: -g)?$/,
  /^brew --prefix(?: [\w@.-]+)?$/,
  /^ssh-agent(?: -[sc])?$/,
  /^\w+env init(?: -| --path)*(?: (?:ba|z|fi)?sh)?$/,
  /^(?:direnv hook|mise activate|zoxide init|starship init) (?:bash|zsh|fish)$/,
  /^conda shell\.(?:bash|zsh|posix|fish) hook$/,
  /^(?:brew shellenv|opam env|fnm env(?: --use-on-cd)?|luarocks path|dircolors -b|minikube docker-env)$/,
  /^(?:kubectl|helm|gh|npm|pnpm|docker|rustup|poetry|deno|kind|minikube|k9s|argocd|flux) completions?(?: -s)?(?: (?:bash|zsh|fish))?$/,
];

/** Whether the script cannot control the output of a command. */
export function hasHarmlessOutput([program = "", ...args]: readonly string[]): boolean {
  const name = lookupName(program);
  return SETTLED.has(name) || SETTLED_LINES.some((line) => line.test([name, ...args].join(" ")));
}
