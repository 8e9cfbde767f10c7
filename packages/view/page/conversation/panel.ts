import type { ItemContent, ItemEntity } from "../../src/wire/entities.ts";
import { h, panel, setChildren } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import type { Store } from "../state/store.ts";
import { createCommandCard } from "./command-card.ts";
import { createPatchCard } from "./patch-card.ts";

/** The conversation: messages, and calls as cards. Scrolls to new ones unless the reader has scrolled up. */
export function createConversation(store: Store, openTerminal: (session: number) => void): HTMLElement {
  const list = h("ol", { class: "items" });
  const empty = h("p", { class: "faint" }, "Nothing has happened yet.");
  const scroller = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Items" }, empty, list);
  const rows = new Map<string, { element: HTMLLIElement; shown: string }>();
  store.watch("item", () => {
    const isAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    const items = store.list("item").sort((one, other) => one.order - other.order);
    empty.hidden = items.length > 0;
    const known = new Set(items.map(({ id }) => id));
    for (const id of rows.keys()) if (!known.has(id)) rows.delete(id);
    setChildren(
      list,
      items.map((item) => update(rows, item, openTerminal)),
    );
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
  });
  return panel("Conversation", "conversation", scroller);
}

function update(
  rows: Map<string, { element: HTMLLIElement; shown: string }>,
  { id, content }: ItemEntity,
  openTerminal: (session: number) => void,
): HTMLLIElement {
  const row = rows.get(id) ?? { element: h("li", {}), shown: "" };
  rows.set(id, row);
  const shown = JSON.stringify(content);
  if (shown === row.shown) return row.element;
  row.shown = shown;
  const hadFocus = row.element.contains(document.activeElement);
  row.element.className = `item ${content.type}`;
  row.element.replaceChildren(...render(content, openTerminal));
  if (hadFocus) row.element.querySelector("button")?.focus();
  return row.element;
}

function render(content: ItemContent, openTerminal: (session: number) => void): Node[] {
  switch (content.type) {
    case "prompt":
      return [h("h3", {}, "You"), h("p", { class: "text" }, visible(content.text))];
    case "message":
      return [h("p", { class: "text" }, visible(content.text))];
    case "reasoning":
      return [h("details", {}, h("summary", {}, "Reasoning"), h("p", { class: "text faint" }, visible(content.text)))];
    case "warning":
      return [h("p", { class: "text warn" }, visible(content.text))];
    case "command":
      return createCommandCard(content, openTerminal);
    case "patch":
      return createPatchCard(content);
    case "plan":
      return [
        h("h3", {}, "Plan"),
        h("ul", { class: "plan" }, ...content.steps.map(({ text, status }) => createStep(text, status))),
      ];
    case "tool":
      return [
        h("h3", {}, "Tool ", h("code", {}, visible(content.name)), ` · ${content.status}`),
        h("pre", { tabindex: "0" }, visible(content.input)),
        content.output === "" ? "" : h("pre", { tabindex: "0" }, visible(content.output)),
      ].map((child) => (typeof child === "string" ? document.createTextNode(child) : child));
  }
}

const MARKS: Readonly<Record<string, string>> = { completed: "✓", in_progress: "▸", pending: "·" };

const createStep = (text: string, status: string): HTMLLIElement =>
  h(
    "li",
    { class: status },
    h("span", { "aria-hidden": "true" }, `${MARKS[status] ?? "·"} `),
    visible(text) as unknown as Node,
    h("span", { class: "for-readers" }, ` (${status.replace("_", " ")})`),
  );
