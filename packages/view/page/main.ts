import type { Rights, ServerMessage } from "../src/wire/messages.ts";
import { createApprovals } from "./approvals/panel.ts";
import { createAudit } from "./audit/panel.ts";
import { createBar } from "./bar/bar.ts";
import { Connection, enter } from "./connection/connection.ts";
import { createConversation } from "./conversation/panel.ts";
import { h } from "./dom/element.ts";
import { visible, visibleText } from "./dom/visible.ts";
import { createEnvironments } from "./environments/panel.ts";
import { createSessions } from "./sessions/panel.ts";
import { Store } from "./state/store.ts";
import { Terminals } from "./terminal/terminals.ts";

const store = new Store();
let rights: Rights = "read";
const announcer = h("div", { class: "for-readers", role: "alert", "aria-live": "assertive" });
const notice = h("div", { class: "notice", role: "status" });
let hideNotice: ReturnType<typeof setTimeout> | undefined;

function announce(text: string): void {
  announcer.textContent = visibleText(text);
}

function notify(text: string, isProblem: boolean): void {
  notice.replaceChildren(visible(text));
  notice.classList.toggle("bad", isProblem);
  notice.hidden = false;
  clearTimeout(hideNotice);
  hideNotice = setTimeout(() => {
    notice.hidden = true;
  }, 8000);
}

/** Links in output are opened only after the target was shown and confirmed. */
function confirmLink(url: string): void {
  const dialog = h("dialog", { "aria-label": "Open a link", onclose: () => dialog.remove() });
  const isWeb = /^https?:\/\//.test(url);
  const openLink = () => {
    dialog.close();
    window.open(url, "_blank", "noopener,noreferrer");
  };
  dialog.append(
    h("h2", {}, "Open this link?"),
    h("p", {}, h("code", {}, visible(url))),
    h("p", { class: "faint" }, isWeb ? "A program wrote it." : "Only links to web pages can be opened."),
    h(
      "div",
      { class: "buttons" },
      isWeb && h("button", { type: "button", onclick: openLink }, "Open"),
      h("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

const connection = new Connection({
  message: receive,
  output: (session, offset, bytes) => terminals.receive(session, offset, bytes),
  state(state) {
    if (state === "ended") bar.setConnection("The program has ended.");
    else if (state === "refused") showRefused();
    else if (state === "connecting") bar.setConnection("Connecting…");
  },
});
const context = {
  store,
  rights: () => rights,
  send: connection.send.bind(connection),
  announce,
  confirmLink,
};
const terminalPlace = h("div", { class: "terminal-place" });
const terminals = new Terminals(context, terminalPlace);
const audit = createAudit(store);
const bar = createBar(store, {
  send: context.send,
  show(view) {
    document.body.classList.toggle("shows-audit", view === "audit");
  },
});
const approvals = createApprovals(store, context);
const conversation = createConversation(store, (session) => terminals.open(session));

function receive(message: ServerMessage): void {
  switch (message.type) {
    case "hello":
      rights = message.rights;
      store.clear();
      return bar.setRights(message.rights, message.viewer);
    case "set":
      return store.set(message.entities);
    case "drop":
      return store.drop(message.keys);
    case "ready":
      document.body.dataset.ready = "true";
      performance.mark("ready");
      return terminals.resume();
    case "gap":
      return terminals.skip(message.session, message.from, message.to, message.reason);
    case "complete":
      return terminals.complete(message.session);
    case "notice":
      return notify(message.text, message.isProblem);
    case "link":
      return bar.showLink(message.url);
  }
}

function showRefused(): void {
  const text =
    "Each link opens in one browser, once. Ask for another one where the program runs, or where the view is open.";
  document.body.replaceChildren(
    h("main", { class: "refused" }, h("h1", {}, "This link was used already"), h("p", {}, text)),
  );
}

const skip = (label: string, target: HTMLElement) =>
  h(
    "a",
    {
      class: "skip",
      href: "#",
      onclick: (event: Event) => {
        event.preventDefault();
        target.focus();
      },
    },
    label,
  );

if (await enter()) {
  document.body.append(
    h("nav", { "aria-label": "Skip" }, skip("Go to approvals", approvals), skip("Go to conversation", conversation)),
    bar.element,
    h(
      "main",
      {},
      h("div", { class: "left" }, createEnvironments(store), createSessions(store, terminals)),
      h("div", { class: "middle" }, conversation, terminalPlace),
      approvals,
      audit,
    ),
    notice,
    announcer,
  );
  notice.hidden = true;
  connection.open();
} else showRefused();
