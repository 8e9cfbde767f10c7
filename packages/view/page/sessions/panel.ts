import type { SessionEntity } from "../../src/wire/entities.ts";
import { h, panel, setChildren } from "../dom/element.ts";
import { visible, visibleText } from "../dom/visible.ts";
import { formatBytes, formatDuration } from "../dom/words.ts";
import type { Store } from "../state/store.ts";

/** The state of terminals that the list shows. */
export interface Terminals {
  readonly current: number | undefined;
  /** Bytes of a session that have been shown. */
  shownOf(session: number): number;
  open(session: number): void;
  onChange(listener: () => void): void;
}

/** Sessions: command, age, unseen output, outcome. Running ones come first. */
export function createSessions(store: Store, terminals: Terminals): HTMLElement {
  const list = h("ul", { class: "list sessions-list" });
  const empty = h("p", { class: "faint" }, "No command has run yet.");
  const rows = new Map<number, ReturnType<typeof createRow>>();
  const update = () => {
    const sessions = store.list("session").sort(byState);
    empty.hidden = sessions.length > 0;
    const several = new Set(sessions.map(({ environment }) => environment)).size > 1;
    for (const id of rows.keys()) if (store.get("session", id) === undefined) rows.delete(id);
    const children = sessions.map((session) => {
      const row = rows.get(session.id) ?? createRow(session.id, terminals);
      rows.set(session.id, row);
      row.update(session, several, session.id === terminals.current, terminals.shownOf(session.id));
      return row.element;
    });
    setChildren(list, children);
  };
  store.watch("session", update);
  terminals.onChange(update);
  setInterval(update, 1000);
  return panel("Sessions", "sessions", empty, list);
}

const byState = (one: SessionEntity, other: SessionEntity): number =>
  Number(other.state === "running") - Number(one.state === "running") || other.id - one.id;

function createRow(id: number, terminals: Terminals) {
  const command = h("code", {});
  const facts = h("span", { class: "faint block" });
  const button = h("button", { type: "button", class: "session", onclick: () => terminals.open(id) }, command, facts);
  const element = h("li", {}, button);
  let shown = "";
  return {
    element,
    update(session: SessionEntity, several: boolean, isCurrent: boolean, seen: number) {
      const age = formatDuration((session.endedAt ?? Date.now()) - session.startedAt);
      const unread = session.end > seen ? `${formatBytes(session.end - seen)} unread` : "";
      const state = session.state === "running" ? `running ${age}` : `${session.outcome}, ${age}`;
      const text = [several ? session.environment : "", state, session.use ?? "", unread]
        .filter((part) => part !== "")
        .join(" · ");
      const next = `${isCurrent} ${session.command} ${text}`;
      if (next === shown) return;
      shown = next;
      command.replaceChildren(visible(session.command || `session ${session.sessionId}`));
      facts.replaceChildren(visible(text));
      button.title = visibleText(session.command);
      button.classList.toggle("failed", session.isFailure);
      button.classList.toggle("running", session.state === "running");
      if (isCurrent) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    },
  };
}
