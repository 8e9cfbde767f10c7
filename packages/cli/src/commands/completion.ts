import type { Command } from "commander";
import { CommandError, EXIT } from "../exit-codes.js";

/** Prints a completion script made from the tree of commands, so that it cannot go stale. */
export function runCompletion(shell: string, program: Command): void {
  const render = { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell];
  if (render === undefined) {
    throw new CommandError(
      `no completion for shell ${JSON.stringify(shell)}; there is one for bash, zsh and fish`,
      EXIT.usage,
    );
  }
  process.stdout.write(render(flatten(program)));
}

interface Node {
  /** Names from the top, without `codex`. */
  path: string[];
  words: { name: string; description: string }[];
}

function flatten(command: Command, path: string[] = []): Node[] {
  const options = command.options.flatMap((option) =>
    option.long == null || option.hidden ? [] : [{ name: option.long, description: option.description }],
  );
  const words = [
    ...command.commands.map((child) => ({ name: child.name(), description: child.description() })),
    ...options,
    { name: "--help", description: "print help" },
  ];
  return [{ path, words }, ...command.commands.flatMap((child) => flatten(child, [...path, child.name()]))];
}

const names = (node: Node) => node.words.map((word) => word.name).join(" ");

/** After `--` the words belong to the program that is run. */
function renderBash(nodes: Node[]): string {
  const cases = nodes.map((node) => `    "${node.path.join(" ")}") words="${names(node)}" ;;`);
  return `_codex() {
  local current=\${COMP_WORDS[COMP_CWORD]} path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = -- ] && { compopt -o default; COMPREPLY=(); return; }
    case " ${commandNames(nodes)} " in *" $word "*) path="\${path:+$path }$word" ;; esac
  done
  case $path in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _codex codex
`;
}

const commandNames = (nodes: Node[]) => [...new Set(nodes.flatMap((node) => node.path))].join(" ");

function renderZsh(nodes: Node[]): string {
  const cases = nodes.map((node) => {
    const described = node.words.map((word) => quote(`${word.name}:${word.description}`)).join(" ");
    return `    "${node.path.join(" ")}") described=(${described}) ;;`;
  });
  return `#compdef codex
_codex() {
  local codex_path="" word
  local -a described
  for word in "\${words[@]:1:CURRENT-2}"; do
    [[ $word == -- ]] && { _default; return; }
    case " ${commandNames(nodes)} " in *" $word "*) codex_path="\${codex_path:+$codex_path }$word" ;; esac
  done
  case $codex_path in
${cases.join("\n")}
  esac
  _describe codex described
}
compdef _codex codex
`;
}

function renderFish(nodes: Node[]): string {
  const lines = nodes.flatMap((node) => {
    const children = new Set(nodes.flatMap((other) => (isChild(node, other) ? [other.path.at(-1)!] : [])));
    const seen = node.path.map((name) => `__fish_seen_subcommand_from ${name}`);
    const unseen = children.size > 0 ? [`not __fish_seen_subcommand_from ${[...children].join(" ")}`] : [];
    const condition = [...seen, ...unseen].join("; and ") || "true";
    return node.words.map(({ name, description }) => {
      const word = name.startsWith("--") ? `-l ${name.slice(2)}` : `-f -a ${name}`;
      return `complete -c codex -n ${quote(condition)} ${word} -d ${quote(description)}`;
    });
  });
  return `${lines.join("\n")}\n`;
}

const isChild = (parent: Node, other: Node) =>
  other.path.length === parent.path.length + 1 && parent.path.every((name, index) => other.path[index] === name);

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
