import { posix } from "node:path";
import type { OutsideProfile } from "@codex/exec-gate";
import { splitWords } from "@codex/shell-analysis";
import {
  BuiltinValue,
  bindArguments,
  DictValue,
  Fault,
  findLocation,
  getTypeName,
  ListValue,
  listLineStarts,
  type Source,
  type Value,
} from "@codex/starlark";
import { parseHostName } from "./host-name.js";
import { MAX_RULES_PER_FILE } from "./limits.js";
import { normalizePath } from "./normalize-path.js";
import {
  DECISIONS,
  type Decision,
  type HostExecutable,
  NETWORK_PROTOCOLS,
  type NetworkRule,
  type PrefixRule,
} from "./rule.js";
import { SIGNATURES } from "./signatures.js";

/** A rule's examples, tested when the whole file has been read. */
export interface Examples {
  readonly rules: readonly PrefixRule[];
  readonly match: readonly (readonly string[])[];
  readonly notMatch: readonly (readonly string[])[];
  /** Offset of the `prefix_rule` call. */
  readonly at: number;
}

/** Collects what the built-ins of rule files declare while one file runs. */
export class Declarations {
  readonly rules: PrefixRule[] = [];
  readonly hostExecutables: HostExecutable[] = [];
  readonly networkRules: NetworkRule[] = [];
  readonly examples: Examples[] = [];

  private readonly lineStarts: readonly number[];

  constructor(private readonly source: Source) {
    this.lineStarts = listLineStarts(source.text);
  }

  createBuiltins(): [string, BuiltinValue][] {
    const define = (name: string, run: (bound: ReadonlyMap<string, Value>, at: number) => void) => {
      const signature = SIGNATURES[name];
      if (signature === undefined) throw new Error(`no signature for ${name}`);
      const builtin = new BuiltinValue(name, (args, { at }) => {
        run(bindArguments({ name, ...signature }, args), at);
        return null;
      });
      return [name, builtin] satisfies [string, BuiltinValue];
    };
    return [
      define("prefix_rule", (bound, at) => this.addPrefixRule(bound, at)),
      define("host_executable", (bound) => this.addHostExecutable(bound)),
      define("network_rule", (bound, at) => this.addNetworkRule(bound, at)),
    ];
  }

  private addPrefixRule(bound: ReadonlyMap<string, Value>, at: number): void {
    const [firsts = [], ...rest] = readPattern(readList(bound, "pattern"));
    const decision = bound.has("decision") ? readDecision(readString(bound, "decision")) : "allow";
    const shared = {
      rest,
      canonicalMatching: readFlag(bound, "canonical_matching"),
      whole: readFlag(bound, "whole"),
      decision,
      justification: readJustification(bound),
      sandbox: readSandbox(bound, decision),
      ...readOutside(bound, decision),
      origin: this.getOrigin(at),
    };
    const rules = firsts.map((first) => ({ first, ...shared }));
    if (this.rules.length + rules.length > MAX_RULES_PER_FILE) {
      throw new Fault(`the file declares more than ${MAX_RULES_PER_FILE} rules`, "Split it or shorten its patterns.");
    }
    const match = readExamples(bound, "match");
    const notMatch = readExamples(bound, "not_match");
    this.rules.push(...rules);
    this.examples.push({ rules, match, notMatch, at });
  }

  private addHostExecutable(bound: ReadonlyMap<string, Value>): void {
    const name = readString(bound, "name");
    if (name === "") throw new Fault("the name of a host_executable is empty");
    if (name.includes("/") || name === "." || name === "..") {
      throw new Fault(
        `the host_executable name ${JSON.stringify(name)} is a path`,
        "Give the bare name of the program.",
      );
    }
    const paths = readList(bound, "paths").map((path) => readPath(path, name));
    this.hostExecutables.push({ name, paths: [...new Set(paths)] });
  }

  private addNetworkRule(bound: ReadonlyMap<string, Value>, at: number): void {
    const host = parseHostName(readString(bound, "host"));
    const text = readString(bound, "protocol");
    const protocol = NETWORK_PROTOCOLS.find((known) => known === text) ?? PROTOCOL_ALIASES.get(text);
    if (protocol === undefined) {
      const known = NETWORK_PROTOCOLS.join(", ");
      throw new Fault(`${JSON.stringify(text)} is not a protocol of network_rule`, `Use one of ${known}.`);
    }
    const word = readString(bound, "decision");
    const decision = word === "deny" ? "forbidden" : readDecision(word);
    const justification = readJustification(bound);
    this.networkRules.push({ host, protocol, decision, justification, origin: this.getOrigin(at) });
  }

  private getOrigin(at: number): PrefixRule["origin"] {
    const { file, line } = findLocation(this.source, this.lineStarts, at);
    return { file, line };
  }
}

const PROTOCOL_ALIASES: ReadonlyMap<string, "https"> = new Map([
  ["https_connect", "https"],
  ["http-connect", "https"],
]);

function failType(label: string, expected: string, value: Value | undefined): never {
  throw new Fault(`${label} must be ${expected} (got ${getTypeName(value ?? null)})`);
}

function readString(bound: ReadonlyMap<string, Value>, name: string): string {
  const value = bound.get(name);
  return typeof value === "string" ? value : failType(`\`${name}\``, "a string", value);
}

function readList(bound: ReadonlyMap<string, Value>, name: string): readonly Value[] {
  const value = bound.get(name);
  return value instanceof ListValue ? value.items : failType(`\`${name}\``, "a list", value);
}

function readFlag(bound: ReadonlyMap<string, Value>, name: string): boolean {
  const value = bound.get(name) ?? (bound.has(name) ? null : false);
  return typeof value === "boolean" ? value : failType(`\`${name}\``, "True or False", value);
}

function readDecision(text: string): Decision {
  const decision = DECISIONS.find((known) => known === text);
  if (decision !== undefined) return decision;
  throw new Fault(`${JSON.stringify(text)} is not a decision`, `Use one of ${DECISIONS.join(", ")}.`);
}

function readJustification(bound: ReadonlyMap<string, Value>): string | undefined {
  if (!bound.has("justification")) return undefined;
  const text = readString(bound, "justification");
  if (text.trim() === "") throw new Fault("the justification is empty", "Give a reason or leave it out.");
  return text;
}

function readSandbox(bound: ReadonlyMap<string, Value>, decision: Decision): "keep" | undefined {
  if (!bound.has("sandbox")) return undefined;
  const text = readString(bound, "sandbox");
  if (text !== "keep")
    throw new Fault(`\`sandbox\` cannot be ${JSON.stringify(text)}`, 'Write "keep" or leave it out.');
  if (decision !== "allow") throw new Fault('`sandbox` has a meaning only for decision="allow"', "Leave it out.");
  return text;
}

/** Where what the rule allows runs outside, and which variables it gets there. */
function readOutside(bound: ReadonlyMap<string, Value>, decision: Decision): Pick<PrefixRule, "outside" | "env"> {
  const names = ["outside", "env"].filter((name) => bound.has(name));
  if (names.length > 0 && decision === "forbidden")
    throw new Fault(`\`${names[0]}\` has no meaning for decision="forbidden"`, "Leave it out.");
  if (names.length > 0 && bound.has("sandbox"))
    throw new Fault(`\`${names[0]}\` and \`sandbox\` contradict each other`, "Leave one of them out.");
  const outside = bound.has("outside") ? readProfile(bound.get("outside") ?? null) : undefined;
  if (bound.has("env") && outside === undefined && decision !== "allow")
    throw new Fault("`env` has a meaning only for a program outside of the sandbox", "Give `outside` as well.");
  return { outside, env: bound.has("env") ? readList(bound, "env").map(readVariable) : [] };
}

function readProfile(value: Value): OutsideProfile {
  if (value === "network" || value === "unrestricted") return value;
  const [entry, ...others] = value instanceof DictValue ? value.entries.values() : [];
  if (entry?.[0] === "write" && others.length === 0 && entry[1] instanceof ListValue) {
    return { write: entry[1].items.map(readDirectory) };
  }
  throw new Fault(
    `\`outside\` cannot be ${typeof value === "string" ? JSON.stringify(value) : `a ${getTypeName(value)}`}`,
    'Write "network", {"write": ["/absolute/directory"]} or "unrestricted".',
  );
}

function readDirectory(path: Value): string {
  if (typeof path !== "string") return failType("an element of `write`", "a string", path);
  if (posix.isAbsolute(path)) return normalizePath(path);
  throw new Fault(`the path ${JSON.stringify(path)} is not absolute`, "Begin it with a slash.");
}

function readVariable(value: Value): string {
  if (typeof value === "string" && /^[A-Za-z_][A-Za-z0-9_]{0,255}\*?$/.test(value)) return value;
  throw new Fault(
    typeof value === "string"
      ? `${JSON.stringify(value)} is not the name of a variable`
      : `an element of \`env\` must be a string (got ${getTypeName(value)})`,
    "Give names; a * at the end stands for the rest.",
  );
}

/** The alternatives of every token. */
function readPattern(pattern: readonly Value[]): string[][] {
  if (pattern.length === 0) throw new Fault("the pattern is empty", "Give at least the name of the program.");
  return pattern.map((element) => {
    if (typeof element === "string") return [element];
    if (!(element instanceof ListValue))
      return failType("an element of `pattern`", "a string or a list of strings", element);
    if (element.items.length === 0) throw new Fault("a list of alternatives in `pattern` is empty");
    return element.items.map((alternative) =>
      typeof alternative === "string" ? alternative : failType("an alternative in `pattern`", "a string", alternative),
    );
  });
}

function readExamples(bound: ReadonlyMap<string, Value>, name: string): string[][] {
  if (!bound.has(name)) return [];
  return readList(bound, name).map((example) => {
    if (typeof example === "string") return readExampleLine(example);
    if (!(example instanceof ListValue))
      return failType(`an example in \`${name}\``, "a string or a list of strings", example);
    if (example.items.length === 0) throw new Fault(`an example in \`${name}\` is an empty list`);
    return example.items.map((token) =>
      typeof token === "string" ? token : failType(`a token of an example in \`${name}\``, "a string", token),
    );
  });
}

function readExampleLine(example: string): string[] {
  const words = splitWords(example);
  if (words === undefined) {
    throw new Fault(
      `the example ${JSON.stringify(example)} is not a shell command`,
      "Close its quotes or give a list.",
    );
  }
  if (words.length === 0) throw new Fault("an example is an empty string");
  return words;
}

function readPath(path: Value, name: string): string {
  if (typeof path !== "string") return failType("an element of `paths`", "a string", path);
  if (!posix.isAbsolute(path)) {
    throw new Fault(`the path ${JSON.stringify(path)} is not absolute`, "Begin it with a slash.");
  }
  const normal = normalizePath(path);
  if (posix.basename(normal) !== name) {
    throw new Fault(`the path ${JSON.stringify(path)} does not end with ${JSON.stringify(name)}`);
  }
  return normal;
}
