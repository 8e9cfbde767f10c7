import type { ItemContent } from "../../src/wire/entities.ts";
import { h } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";

/** A patch, as one diff per file. */
export function createPatchCard({ status, environment, changes }: Extract<ItemContent, { type: "patch" }>): Node[] {
  return [
    h(
      "h3",
      {},
      `Patch · ${status}`,
      h("span", { class: "faint" }, visible(environment === undefined ? "" : ` · ${environment}`)),
    ),
    ...changes.map(({ path, change, diff }) =>
      h(
        "details",
        { open: changes.length === 1 },
        h("summary", {}, `${change} `, h("code", {}, visible(path))),
        diff === undefined
          ? undefined
          : h("pre", { class: "diff", tabindex: "0" }, ...diff.split("\n").map(createLine)),
      ),
    ),
  ];
}

const createLine = (line: string): HTMLElement => {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "context";
  return h("span", { class: kind }, visible(`${line}\n`));
};
