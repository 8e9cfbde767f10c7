import type { PageMessage, Rights } from "../../src/wire/messages.ts";
import { h } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import type { Store } from "../state/store.ts";

/** The bar: thread, model, tokens, connection, number of other pages, stop and share. */
export function createBar(
  store: Store,
  context: { send(message: PageMessage): void; show(view: "live" | "audit"): void },
) {
  const facts = h("span", { class: "faint facts" });
  const connection = h("span", { class: "connection", role: "status" });
  const stop = h("button", { type: "button", class: "danger", onclick: () => context.send({ type: "stop" }) }, "Stop");
  const share = h("button", { type: "button", onclick: () => dialog.showModal() }, "Share…");
  const link = h("output", { class: "link", tabindex: "0" });
  const makeAnswering = createLinkButton("Link that may answer", "answer");
  const dialog = h(
    "dialog",
    { "aria-label": "Share" },
    h("h2", {}, "Share"),
    h("p", {}, "Each link opens in one browser, once."),
    h("div", { class: "buttons" }, createLinkButton("Link that only shows", "read"), makeAnswering),
    link,
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  );
  function createLinkButton(label: string, rights: Rights) {
    return h("button", { type: "button", onclick: () => context.send({ type: "link", rights }) }, label);
  }
  const views = [createViewButton("Live", "live"), createViewButton("Audit", "audit")];
  function createViewButton(label: string, view: "live" | "audit") {
    const button = h("button", { type: "button", onclick: () => select(view) }, label);
    button.dataset.view = view;
    return button;
  }
  const select = (view: "live" | "audit") => {
    for (const button of views) {
      if (button.dataset.view === view) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    context.show(view);
  };
  let rights: Rights = "read";
  const update = () => {
    const thread = store.get("thread", "thread");
    const tokens = thread?.tokens === undefined ? "" : `${thread.tokens.toLocaleString("en")} tokens`;
    const reason = thread?.reason === undefined ? "" : `: ${thread.reason}`;
    const state = thread === undefined || thread.state === "none" ? "" : thread.state + reason;
    const id =
      thread?.threadId === undefined ? "" : `thread ${thread.threadId.slice(0, 8)}…${thread.threadId.slice(-4)}`;
    facts.replaceChildren(visible([thread?.model, id, tokens, state].filter(Boolean).join(" · ")));
    stop.hidden = thread?.state !== "running" || rights !== "answer";
  };
  store.watch("thread", update);
  const element = h(
    "header",
    { class: "bar" },
    h("h1", {}, "codex view"),
    h("nav", { "aria-label": "Views" }, ...views, h("a", { href: "replay" }, "Replay")),
    facts,
    connection,
    stop,
    share,
    dialog,
  );
  select("live");
  return {
    element,
    setRights(now: Rights, viewer: string) {
      rights = now;
      makeAnswering.hidden = now !== "answer";
      connection.textContent = now === "answer" ? viewer : `${viewer}, reading only`;
      update();
    },
    setConnection(state: string) {
      connection.textContent = state;
    },
    showLink(url: string) {
      link.textContent = url;
      link.focus();
    },
  };
}
