import { defined } from "@codex/values";
import type { QuestionEntity } from "../../src/wire/entities.ts";
import type { PageMessage, Rights } from "../../src/wire/messages.ts";
import { h, panel, setChildren } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import { quoteWords } from "../dom/words.ts";
import type { Store } from "../state/store.ts";
import { createQuestion } from "./question.ts";

const KEPT_ANSWERS = 5;

const WORDS: Readonly<Record<string, string>> = {
  accept: "accepted",
  accept_for_session: "accepted for the session",
  accept_and_save: "accepted, rule saved",
  decline: "declined",
  cancel: "turn ended",
};

/** Open questions, oldest first, and the latest answers with their authors. */
export function createApprovals(
  store: Store,
  context: { rights(): Rights; send(message: PageMessage): void; announce(text: string): void },
): HTMLElement {
  const list = h("ul", { class: "list questions" });
  const answered = h("ul", { class: "list answered faint" });
  const empty = h("p", { class: "faint" }, "Nothing waits for an answer.");
  const element = panel("Approvals", "approvals", empty, list, answered);
  const rows = new Map<string, HTMLLIElement>();
  const known = new Set<string>();
  store.watch("question", () => {
    const questions = store.list("question");
    const open = questions
      .filter(({ answer }) => answer === undefined)
      .sort((one, other) => one.askedAt - other.askedAt);
    for (const question of open) {
      if (known.has(question.id)) continue;
      known.add(question.id);
      context.announce(`Approval needed: ${quoteWords(question.command)}`);
    }
    const hadFocus = list.contains(document.activeElement);
    const ids = new Set(open.map(({ id }) => id));
    for (const id of rows.keys()) if (!ids.has(id)) rows.delete(id);
    const children = open.map((question) => {
      const row = rows.get(question.id) ?? create(question);
      rows.set(question.id, row);
      return row;
    });
    setChildren(list, children);
    empty.hidden = open.length > 0;
    const done = questions.filter(({ answer }) => answer !== undefined).slice(-KEPT_ANSWERS);
    setChildren(answered, done.reverse().map(describe));
    document.body.classList.toggle("has-questions", open.length > 0);
    document.title = open.length > 0 ? `(${open.length}) codex view` : "codex view";
    // Its question was answered.
    if (hadFocus && !list.contains(document.activeElement)) (list.querySelector("h3") ?? element).focus();
  });
  const create = (question: QuestionEntity) =>
    createQuestion(question, context.rights() === "answer", (decision, rule) =>
      context.send({ type: "answer", question: question.id, decision, ...defined({ rule }) }),
    );
  return element;
}

const describe = ({ command, answer }: QuestionEntity): HTMLLIElement =>
  h(
    "li",
    {},
    h("code", {}, visible(quoteWords(command))),
    h(
      "span",
      { class: "block" },
      visible(`${WORDS[answer?.decision ?? ""] ?? answer?.decision ?? ""} by ${answer?.by ?? ""}`),
    ),
  );
