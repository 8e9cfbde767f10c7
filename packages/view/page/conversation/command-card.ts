import type { CommandContent } from "../../src/wire/entities.ts";
import { h } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import { formatBytes } from "../dom/words.ts";

/** A command: where it ran, what allowed it, its last lines and its outcome. */
export function createCommandCard(content: CommandContent, openTerminal: (session: number) => void): Node[] {
  const { command, cwd, environment, decision, rule, tail, status, outcome, range, omitted, session } = content;
  const facts = [environment, cwd].filter((fact) => fact !== undefined && fact !== "").join(" · ");
  const decided = [decision, rule].filter((fact) => fact !== undefined).join(": ");
  const bytes = range === undefined ? "" : `bytes ${range.from}–${range.to}`;
  const left = omitted.map(({ from, to }) => `${from}–${to}`).join(", ");
  return [
    h(
      "header",
      {},
      h("pre", { class: "command", tabindex: "0" }, visible(command)),
      h("span", { class: `status ${status}` }, visible(status === "completed" ? outcome : (LABELS[status] ?? status))),
    ),
    h("p", { class: "facts faint" }, visible([facts, decided].filter((part) => part !== "").join(" — "))),
    ...(tail === "" ? [] : [h("pre", { class: "tail", tabindex: "0", "aria-label": "Last lines" }, visible(tail))]),
    ...createHosts(content),
    h(
      "footer",
      {},
      session !== undefined && h("button", { type: "button", onclick: () => openTerminal(session) }, "Open terminal"),
      h(
        "span",
        { class: status === "declined" || status === "failed" ? "bad" : "faint" },
        visible(status === "declined" || status === "failed" ? outcome : ""),
      ),
      h(
        "span",
        { class: "faint" },
        [bytes, left === "" ? "" : `the model was not given ${left}`].filter(Boolean).join("; "),
      ),
    ),
  ];
}

/** What its network reached, and did not. */
function createHosts({ hosts = [], otherHosts = 0 }: CommandContent): Node[] {
  if (hosts.length === 0) return [];
  const lines = hosts.map(({ name, isAllowed, why, count, sent, received }) => {
    const times = count === 1 ? "" : ` ${count} times`;
    const text = isAllowed
      ? `${name}${times}, sent ${formatBytes(sent)}, received ${formatBytes(received)}`
      : `${name} denied${times}${why === "" ? "" : ` (${why})`}`;
    return h("li", { class: isAllowed ? "" : "bad" }, visible(text));
  });
  const rest = otherHosts === 0 ? [] : [h("li", {}, `${otherHosts} more connections`)];
  return [h("ul", { class: "hosts faint", "aria-label": "Network" }, ...lines, ...rest)];
}

const LABELS: Readonly<Record<string, string>> = { waiting: "waits for approval" };
