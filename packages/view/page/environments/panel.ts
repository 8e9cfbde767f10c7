import { h, panel, setChildren } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import type { Store } from "../state/store.ts";

/** The environments and their states. */
export function createEnvironments(store: Store): HTMLElement {
  const list = h("ul", { class: "list" });
  store.watch("environment", () => {
    const items = store
      .list("environment")
      .map(({ id, status, reason, cwd, os, primary }) =>
        h(
          "li",
          { class: "environment" },
          h("span", { class: `dot ${status}`, "aria-hidden": "true" }),
          h(
            "span",
            {},
            h("b", {}, visible(id)),
            primary && h("span", { class: "faint" }, " default"),
            h("span", { class: "faint block" }, visible([status, os, cwd].filter(Boolean).join(" · "))),
            reason !== undefined && h("span", { class: "bad block" }, visible(reason)),
          ),
        ),
      );
    setChildren(list, items);
  });
  return panel("Environments", "environments", list);
}
