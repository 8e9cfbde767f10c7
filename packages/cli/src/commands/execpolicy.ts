import { quoteWords, visible } from "@codex/agent-terminal/text";
import type { ConfigFlags } from "@codex/config";
import type { HostInfo } from "@codex/executor-protocol";
import {
  analyzeCommand,
  checkCommand,
  createLazyShellParser,
  type ExplainedCommand,
  type Explanation,
  explainCommand,
  findMissingSandbox,
  type Requirement,
  renderAllowRule,
  type SandboxSelector,
} from "@codex/policy";
import { toError } from "@codex/values";
import { EXIT } from "../exit-codes.js";
import { findNamedHosts, renderNetworkRules } from "../network-rules.js";
import { print, printJson } from "../notice.js";
import { openConfig } from "../open-config.js";
import { describePolicyError, loadRules, readRules } from "../rule-files.js";
import { openSandbox } from "../sandbox-selector.js";
import { describeHost } from "../sandbox-trial.js";
import { compileGrammarSimply } from "../shell-parser.js";

export interface CheckOptions {
  rules?: string[];
  pretty: boolean;
  resolveHostExecutables: boolean;
}

/** Prints the decision of the rules about one command, as Codex does. */
export async function runExecPolicyCheck(argv: readonly string[], options: CheckOptions): Promise<void> {
  const policy = await readRules(options.rules ?? []).catch(toError);
  if (policy instanceof Error) return refuse(policy.message);
  const [broken] = policy.broken;
  if (broken !== undefined) return refuse(describePolicyError("parse", broken.file, broken.message));
  const { resolveHostExecutables } = options;
  const result = checkCommand(policy, argv, { resolveHostExecutables, cwd: process.cwd() });
  printJson(result, options.pretty ? 2 : 0);
}

/** The wording of Codex, for programs that parse the first line. */
function refuse(problem: string): void {
  process.stderr.write(`Error: ${visible(problem)}\n`);
  process.exitCode = EXIT.failure;
}

export interface ExplainOptions extends ConfigFlags {
  rules?: string[];
  json: boolean;
}

/** Prints how policy evaluates a command: one word is a script, several are an argv. */
export async function runExecPolicyExplain(words: readonly string[], options: ExplainOptions): Promise<void> {
  const config = await openConfig(options);
  const { approvalPolicy } = config.settings;
  const rules = await loadRules(options.rules ?? [], config);
  const argv = words.length === 1 ? ["/bin/bash", "-lc", words[0] ?? ""] : words;
  compileGrammarSimply();
  const command = await analyzeCommand(argv, undefined, createLazyShellParser());
  const cwd = process.cwd();
  const sandbox = openSandbox(config.settings.sandbox, true);
  const host = await describeOwnExecutor(cwd, sandbox);
  const explanation = explainCommand(command, {
    rules,
    cwd,
    approvalPolicy,
    sandboxPermissions: "use_default",
    unrestricted: sandbox.unrestricted,
    missingSandbox: findMissingSandbox({ name: "executor", host }, cwd, command, sandbox),
    os: process.platform,
  });
  const json = {
    argv,
    approvalPolicy,
    ...explanation,
    networkRules: rules.networkRules,
    brokenRules: rules.broken.map(pickError),
  };
  const isLimited = config.settings.network !== undefined;
  const network = renderNetworkRules(rules.networkRules, findNamedHosts(rules, explanation), isLimited);
  options.json ? printJson(json) : print(render(argv, explanation, network));
}

/** Probes the sandbox of this host with a trial run, only when needed. */
async function describeOwnExecutor(cwd: string, { unrestricted, whenUnavailable }: SandboxSelector): Promise<HostInfo> {
  const host = describeHost(cwd);
  if (unrestricted || whenUnavailable !== "ask") return host;
  const { createCommandSandbox } = await import("@codex/sandbox");
  return { ...host, sandbox: await createCommandSandbox().getSupport() };
}

const pickError = ({ file, message }: { file: string; message: string }) => ({ file, message });

function render(argv: readonly string[], explanation: Explanation, network: readonly string[]): string {
  const { commands, isSplit, inside, guessed, begun, isComplete, unclear, readsScript } = explanation;
  const { requirement, why, whereHeld, proposedRule } = explanation;
  const split = isSplit
    ? `${commands.length} plain ${commands.length === 1 ? "command" : "commands"}`
    : "no: it counts as one command";
  const lines = [
    `command      ${quoteWords(argv)}`,
    `split        ${split}`,
    ...commands.flatMap(renderCommand),
    ...(inside.length === 0 ? [] : ["inside       spelled out in it, and only restricting"]),
    ...inside.flatMap(renderCommand),
    ...(guessed.length === 0 ? [] : ["perhaps      among the arguments of programs that are not known"]),
    ...guessed.flatMap(renderCommand),
    ...(begun.length === 0 ? [] : ["begun        what follows these words is known only at run time"]),
    ...begun.flatMap(renderCommand),
    ...(isComplete
      ? []
      : [`incomplete   there may be more than was found${unclear === undefined ? "" : `: ${visible(unclear)}`}`]),
    ...(readsScript ? TYPED : []),
    `requirement  ${REQUIREMENTS[requirement.kind]}`,
    `why          ${visible(why)}`,
    ...(whereHeld === undefined ? [] : renderHeld(whereHeld)),
    ...network,
    ...(proposedRule === null ? [] : [`rule to save ${visible(renderAllowRule(proposedRule))}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function renderCommand({ words, matches, requirement, why }: ExplainedCommand): string[] {
  return [
    `  ${quoteWords(words)}`,
    ...matches.map(({ decision, rule }) => `    rule       ${decision}: ${visible(rule)}`),
    `    ${VERDICTS[requirement].padEnd(9)}  ${visible(why)}`,
  ];
}

/** What the text leaves open is settled where the exec gate judges each program. */
const renderHeld = (requirement: Requirement): string[] => [
  `with a gate  ${REQUIREMENTS[requirement.kind]}, in a sandbox: what the text leaves open is judged where a program starts`,
  ...(requirement.kind === "skip" ? [] : [`             ${visible(requirement.reason)}`]),
];

const TYPED = [
  "typed        a shell in it reads what is written later: each line is judged when it is complete",
  "             not seen: keys that recall, complete or move in a line; what other programs than shells read",
];

const VERDICTS: Record<Requirement["kind"], string> = {
  skip: "allowed",
  needsApproval: "asked",
  forbidden: "forbidden",
};
const REQUIREMENTS: Record<Requirement["kind"], string> = {
  skip: "runs without a question",
  needsApproval: "needs approval",
  forbidden: "forbidden",
};
