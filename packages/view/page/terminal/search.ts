import type { SearchAddon } from "@xterm/addon-search";
import { h } from "../dom/element.ts";

/** Searches a terminal: Enter for the next match, Shift+Enter for the previous one. */
export function createSearch(search: SearchAddon, announce: (text: string) => void): HTMLElement {
  const input = h("input", { type: "search", placeholder: "Search", "aria-label": "Search this terminal" });
  const find = (back: boolean) => {
    if (input.value === "") return search.clearDecorations();
    const found = back ? search.findPrevious(input.value) : search.findNext(input.value);
    if (!found) announce("Not found.");
  };
  return h(
    "form",
    {
      role: "search",
      onsubmit: (event: Event) => {
        event.preventDefault();
        find(false);
      },
      onkeydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter" || !event.shiftKey) return;
        event.preventDefault();
        find(true);
      },
    },
    input,
  );
}
