import { isIP } from "node:net";
import { splitWords } from "@codex/agent-terminal/text";
import { readSshUrl, type SshUrl } from "@codex/environments";
import { CommandError, EXIT } from "./exit-codes.js";
import { findExecutable } from "./find-executable.js";

/** Address of an executor or exec-server, as given in an option. */
export type ExecutorAddress =
  /** `ws:` or `wss:`. */
  | { kind: "websocket"; url: string }
  /** A socket in the file system. */
  | { kind: "unix"; path: string }
  /** A host that ssh reaches, and to which an exec-server is uploaded. */
  | { kind: "ssh"; address: SshUrl }
  /** A command line for a shell, whose program speaks the protocol on its stdin and stdout. */
  | { kind: "command"; line: string };

/** An address at which something listens. */
export type ListenerAddress = Exclude<ExecutorAddress, { kind: "command" | "ssh" }>;

/** The URL that channels are opened with. */
export const toUrl = (address: ListenerAddress): string =>
  address.kind === "unix" ? `unix://${address.path}` : address.url;

const EXPECTED =
  "expected ws://HOST:PORT, wss://HOST:PORT, HOST:PORT, unix:///PATH, ssh://HOST or a command that speaks the protocol on its stdin and stdout";

/**
 * Reads an address as people type it: a URL, `HOST:PORT`, a port of this machine, or a command.
 * @param option names it in errors, such as `--executor`
 * @throws CommandError for anything else, with a suggestion where there is one
 */
export function parseExecutorAddress(given: string, option: string): ExecutorAddress {
  const text = given.trim();
  const refuse = (why: string) => new CommandError(`${option} ${describeAddress(text)}: ${why}`, EXIT.usage);
  if (text === "") throw new CommandError(`${option} is empty; ${EXPECTED}`, EXIT.usage);
  if (/\s/.test(text)) return { kind: "command", line: text };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined) return parseUrl(scheme, text, refuse);
  if (/^unix:\//i.test(text)) return parseUrl("unix", `unix://${text.slice("unix:".length)}`, refuse);
  return parseHost(text, refuse) ?? { kind: "command", line: text };
}

/** Why the program of a command line cannot be started; undefined when only a shell can determine that. */
export function findCommandProblem(line: string): string | undefined {
  const program = getProgram(line);
  const problem = program === undefined ? undefined : findExecutable(program);
  return problem === undefined ? undefined : `${problem}; ${EXPECTED}`;
}

/** The program of a line of plain words; undefined for a line that needs a shell. */
export const getProgram = (line: string): string | undefined =>
  new RegExp(PLAIN_WORDS, "u").test(line) && !FOR_SHELLS.test(line) ? splitWords(line)?.[0] : undefined;

/** A word that a shell does not expand. */
const QUOTED = `'[^']*'|"[^"$\`\\\\]*"`;

/** Words, quoted or not; the first is not an assignment. */
const PLAIN_WORDS = `^(?:[\\p{L}\\p{N}_@%+:,./-]|${QUOTED})+(?:[ \\t]+(?:[\\p{L}\\p{N}_@%+=:,./-]|${QUOTED})+)*$`;

/** Keywords and builtins of shells. */
const FOR_SHELLS =
  /^(builtin|case|cd|command|eval|exec|export|for|if|set|time|trap|ulimit|umask|until|wait|while)(\s|$)/;

type Refuse = (why: string) => CommandError;

const SCHEMES: Readonly<Record<string, string>> = { ws: "ws", wss: "wss", http: "ws", https: "wss" };

function parseUrl(scheme: string, text: string, refuse: Refuse): ExecutorAddress {
  const rest = text.slice(scheme.length + "://".length);
  if (scheme === "unix") {
    if (/^\/./.test(rest)) return { kind: "unix", path: rest };
    throw refuse("expected unix:///PATH with the absolute path of a socket");
  }
  if (scheme === "ssh") {
    const address = readSshUrl(`ssh://${rest}`);
    if (typeof address === "string") throw refuse(address);
    return { kind: "ssh", address };
  }
  if (scheme === "stdio") throw refuse(`that is what the other side listens on; ${EXPECTED}`);
  const known = SCHEMES[scheme];
  if (known === undefined) throw refuse(`${scheme}:// is not supported; ${EXPECTED}`);
  const url = `${known}://${rest}`;
  if (!URL.canParse(url)) throw refuse(`that is no address; ${EXPECTED}`);
  const { port, hash, username, password } = new URL(url);
  if (hash !== "") throw refuse("an address has no part after #");
  if (port === "0") throw refuse("port 0 cannot be reached; a port is 1 to 65535");
  if (username !== "" || password !== "")
    throw refuse("an address holds no user or password; a token is in --token-file");
  return { kind: "websocket", url };
}

/** A host or a local port; undefined for text that may be the name of a command. */
function parseHost(text: string, refuse: Refuse): ExecutorAddress | undefined {
  if (isIP(text) === 6) throw refuse(`the port is missing, and an IPv6 address is in brackets: [${text}]:PORT`);
  const [, host = "", port, path = ""] = /^(\[[^\]]*\]|[\w.-]*)(?::(\d+))?(\/.*)?$/.exec(text) ?? [];
  if (/^\d+$/.test(text)) return parseUrl("ws", `ws://127.0.0.1:${text}`, refuse);
  if (port !== undefined) return parseUrl("ws", `ws://${host === "" ? "127.0.0.1" : host}:${port}${path}`, refuse);
  if (host.startsWith("[") || isIP(host) === 4 || /^localhost$/i.test(host)) {
    throw refuse(`the port is missing: ${host}:PORT, as \`codex executor --listen ws://…\` printed it`);
  }
  return undefined;
}

/** An address for a message: without user, password, query and fragment. A command is shown as it was typed. */
export const describeAddress = (text: string): string =>
  JSON.stringify(text.replace(/^([a-z][\w+.-]*:\/\/)[^/?#\s]*@/i, "$1…@").replace(/^([^?#\s]*[?#])\S+$/, "$1…"));
