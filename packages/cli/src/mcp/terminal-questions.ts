import { createInterface } from "node:readline/promises";
import type { ApproverTerminal } from "@codex/agent-terminal/approvals";
import type { AskPerson, McpAnswer, McpField, McpQuestion, McpValue } from "@codex/mcp-client";
import { visible } from "@codex/policy/display";

/** Asks questions of MCP servers at a terminal, one at a time. Rejects without one. */
export function createTerminalQuestions(
  terminal: ApproverTerminal = { input: process.stdin, output: process.stderr },
): AskPerson {
  let last: Promise<unknown> = Promise.resolve();
  return (question, { signal }) => {
    const turn = last.then(() => askAtTerminal(question, terminal, signal));
    last = turn.catch(() => {});
    return turn;
  };
}

/** Dialog with the person. */
interface Dialog {
  ask(question: string): Promise<string>;
  show(text: string): void;
}

async function askAtTerminal(
  question: McpQuestion,
  { input, output }: ApproverTerminal,
  signal: AbortSignal,
): Promise<McpAnswer> {
  signal.throwIfAborted();
  if (!input.isTTY || !output.isTTY) throw new Error("there is no terminal to ask at");
  const prompt = createInterface({ input, output });
  try {
    return await runDialog(question, {
      ask: async (text) => (await prompt.question(text, { signal })).trim(),
      show: (text) => void output.write(`  ${text}\n`),
    });
  } finally {
    prompt.close();
  }
}

async function runDialog({ server, message, url, fields }: McpQuestion, dialog: Dialog): Promise<McpAnswer> {
  dialog.show("");
  dialog.show(`question     of MCP server ${visible(server)}, to which the answer goes`);
  for (const [at, line] of visible(message).split("\n").entries())
    dialog.show(`${at === 0 ? "it says      " : "           | "}${line}`);
  if (url !== undefined) {
    dialog.show(`page         ${visible(url)}`);
    return (await confirm(dialog, "Have you opened it? [y]es, [n]o: ")) ? { action: "accept" } : { action: "decline" };
  }
  if (!(await confirm(dialog, fields.length === 0 ? "Accept? [y]es, [n]o: " : "Answer it? [y]es, [n]o: "))) {
    return { action: "decline" };
  }
  if (fields.length === 0) return { action: "accept" };
  for (;;) {
    const content: Record<string, McpValue> = {};
    for (const field of fields) {
      const value = await askField(field, dialog);
      if (value !== undefined) content[field.name] = value;
    }
    const answer = await choose(dialog, `Send this to ${visible(server)}? [y]es, [e]dit, [n]o: `, ["y", "e", "n"]);
    if (answer === "y") return { action: "accept", content };
    if (answer === "n") return { action: "decline" };
  }
}

const confirm = async (dialog: Dialog, question: string): Promise<boolean> =>
  (await choose(dialog, question, ["y", "n"])) === "y";

/** The first letter of a whole answer. */
async function choose(dialog: Dialog, question: string, letters: readonly string[]): Promise<string> {
  for (;;) {
    const answer = (await dialog.ask(question)).toLowerCase();
    const word = WORDS[answer] ?? answer;
    if (letters.includes(word)) return word;
  }
}

const WORDS: Readonly<Record<string, string>> = { yes: "y", no: "n", edit: "e" };

async function askField(field: McpField, dialog: Dialog): Promise<McpValue | undefined> {
  const { title, description, isRequired, default: standard } = field;
  if (description !== undefined) dialog.show(visible(description));
  for (const [at, option] of field.options.entries()) dialog.show(`${at + 1} ${visible(option.title)}`);
  const hints = [
    HINTS[field.kind],
    standard === undefined ? (isRequired ? "" : "may be empty") : `default ${shown(field, standard)}`,
  ];
  const hint = hints.filter((each) => each !== "").join("; ");
  for (;;) {
    const text = await dialog.ask(`${visible(title)}${hint === "" ? "" : ` (${hint})`}: `);
    if (text === "" && (standard !== undefined || !isRequired)) return standard;
    const value = readValue(field, text);
    if (value !== undefined) return value;
    dialog.show(`expected ${EXPECTED[field.kind]}`);
  }
}

const HINTS: Readonly<Record<McpField["kind"], string>> = {
  text: "",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  choice: "its number",
  choices: "their numbers, with commas",
};

const EXPECTED: Readonly<Record<McpField["kind"], string>> = {
  text: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  choice: "one of the numbers above",
  choices: "some of the numbers above, with commas between",
};

function shown({ options }: McpField, value: McpValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const titles = [value].flat().map((each) => options.find((option) => option.value === each)?.title ?? String(each));
  return visible(titles.join(", "));
}

/** Undefined: it is not a value of this kind. */
function readValue({ kind, options }: McpField, text: string): McpValue | undefined {
  switch (kind) {
    case "text":
      return text === "" ? undefined : text;
    case "number":
    case "integer": {
      const value = text === "" ? Number.NaN : Number(text);
      return Number.isFinite(value) && (kind === "number" || Number.isInteger(value)) ? value : undefined;
    }
    case "boolean":
      return { y: true, yes: true, n: false, no: false }[text.toLowerCase()];
    case "choice":
      return options[Number(text) - 1]?.value;
    case "choices": {
      const chosen = text.split(",").map((each) => options[Number(each.trim()) - 1]?.value);
      return chosen.every((each) => each !== undefined) ? [...new Set(chosen)] : undefined;
    }
  }
}
