import type { QuestionEntity } from "../../src/wire/entities.ts";
import type { PageMessage } from "../../src/wire/messages.ts";
import { h } from "../dom/element.ts";
import { visible, visibleText } from "../dom/visible.ts";
import { quoteWords, splitWords } from "../dom/words.ts";

type Decision = Extract<PageMessage, { type: "answer" }>["decision"];
type Answer = (decision: Decision, rule?: string[]) => void;

/** A question with all details of the call, and the buttons that answer it. */
export function createQuestion(question: QuestionEntity, mayAnswer: boolean, answer: Answer): HTMLLIElement {
  const { id, command, cwd, environment, reason, justification, permissions, sandbox, afterDenial, tty } = question;
  const script = scriptOf(command);
  const facts = [
    ["Why", reason],
    ["The model says", justification],
    ["Before", afterDenial],
    ["Where", `${environment} · ${cwd}${tty ? " · on a terminal" : ""}`],
    ["Holds it", sandbox],
    ["Asks for", permissions],
  ] as const;
  return h(
    "li",
    { class: "question", "aria-labelledby": `question-${id}` },
    h(
      "h3",
      { id: `question-${id}`, tabindex: "-1" },
      question.tool === "exec_command" ? "Run this command?" : `Allow ${visibleText(question.tool)}?`,
    ),
    h("pre", { class: "command whole", tabindex: "0" }, visible(script ?? quoteWords(command))),
    script !== undefined &&
      h("p", { class: "faint" }, "as ", h("code", {}, visible(quoteWords(command.slice(0, -1)))), " …"),
    h(
      "dl",
      {},
      ...facts.flatMap(([name, text]) => (text === undefined ? [] : [h("dt", {}, name), h("dd", {}, visible(text))])),
    ),
    mayAnswer ? createAnswers(question, answer) : h("p", { class: "faint" }, "This link is read-only."),
  );
}

function createAnswers(question: QuestionEntity, answer: Answer): HTMLElement {
  const { decisions, rule } = question;
  const offers = (decision: Decision) => decisions.includes(decision);
  const button = (label: string, decision: Decision, className = "") =>
    offers(decision) && h("button", { type: "button", class: className, onclick: () => answer(decision) }, label);
  return h(
    "div",
    { class: "answers" },
    h(
      "div",
      { class: "buttons" },
      button("Accept", "accept", "primary"),
      button("Accept for session", "accept_for_session"),
      rule === undefined && button("Accept always", "accept_and_save"),
      button("Decline", "decline", "danger"),
      button("End turn", "cancel"),
    ),
    offers("accept_and_save") &&
      rule !== undefined &&
      createRuleEditor({ ...question, rule }, (words) => answer("accept_and_save", words)),
  );
}

interface Offer extends Pick<QuestionEntity, "id" | "keepsSandbox"> {
  rule: readonly string[];
}

function createRuleEditor({ id, rule, keepsSandbox }: Offer, save: (words: string[]) => void): HTMLElement {
  const where = keepsSandbox === true ? ", in its sandbox" : "";
  const input = h("input", {
    id: `rule-${id}`,
    type: "text",
    value: quoteWords(rule),
    spellcheck: "false",
    autocomplete: "off",
  });
  const problem = h("p", { class: "bad", role: "alert" });
  return h(
    "form",
    {
      class: "rule",
      onsubmit: (event: Event) => {
        event.preventDefault();
        const words = splitWords(input.value);
        if (words === undefined || words.length === 0) {
          problem.textContent = words === undefined ? "A quote is not closed." : "A rule needs at least one word.";
          return input.focus();
        }
        save(words);
      },
    },
    h(
      "label",
      { for: `rule-${id}` },
      `Always allow this command${where}; if its program runs no others, all that begin so`,
    ),
    h("div", { class: "buttons" }, input, h("button", { type: "submit" }, "Save rule")),
    problem,
  );
}

function scriptOf(argv: readonly string[]): string | undefined {
  const [shell = "", flag = "", script] = argv;
  const isScript = argv.length === 3 && /(^|\/)(ba|z|da|fi|k)?sh$/.test(shell) && /^-[a-z]*c$/.test(flag);
  return isScript ? script : undefined;
}
