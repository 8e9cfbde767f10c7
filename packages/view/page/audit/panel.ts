import { h, panel, setChildren } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import type { Store } from "../state/store.ts";

const SHOWN = 500;

/** Records of the audit log, the newest first, with a filter and the state of the chain. */
export function createAudit(store: Store): HTMLElement {
  const body = h("tbody", {});
  const state = h("p", {});
  const filter = h("input", { type: "search", id: "audit-filter", oninput: () => update() });
  const empty = h("p", { class: "faint" }, "There is no audit log here, or nothing is in it yet.");
  const table = h(
    "table",
    {},
    h(
      "thead",
      {},
      h("tr", {}, ...["Record", "Time", "Type", "Content"].map((name) => h("th", { scope: "col" }, name))),
    ),
    body,
  );
  const update = () => {
    const records = store.list("record");
    const wanted = filter.value.toLowerCase();
    const found = records.filter(({ type, text }) => `${type} ${text}`.toLowerCase().includes(wanted));
    empty.hidden = records.length > 0;
    table.hidden = records.length === 0;
    const rows = found
      .slice(-SHOWN)
      .reverse()
      .map(({ id, at, type, text }) =>
        h(
          "tr",
          {},
          h("td", {}, String(id)),
          h("td", {}, visible(at)),
          h("td", {}, visible(type)),
          h("td", {}, h("code", {}, visible(text))),
        ),
      );
    setChildren(body, rows);
  };
  store.watch("record", update);
  store.watch("thread", () => {
    const chain = store.get("thread", "thread")?.chain;
    state.className = chain?.state === "intact" ? "good" : "bad";
    state.replaceChildren(visible(chain === undefined ? "" : `The chain is ${chain.state}: ${chain.text}`));
  });
  update();
  return panel(
    "Audit",
    "audit",
    state,
    h("p", {}, h("label", { for: "audit-filter" }, "Filter "), filter),
    empty,
    h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Records" }, table),
  );
}
