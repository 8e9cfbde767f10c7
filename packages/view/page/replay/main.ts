import type { ServerMessage } from "../../src/wire/messages.ts";
import { Connection, enter, fetchWithKey } from "../connection/connection.ts";
import { h, panel, setChildren } from "../dom/element.ts";
import { visible } from "../dom/visible.ts";
import { Store } from "../state/store.ts";
import { findMarkers } from "./markers.ts";
import { createPlayer, type Player } from "./player.ts";

const store = new Store();
const list = h("ul", { class: "list" });
const marks = h("ul", { class: "list marks" });
const stage = h("div", { class: "stage" });
const status = h("p", { class: "faint", role: "status" }, "Choose a recording.");
let player: Player | undefined;
let current: number | undefined;

function update(): void {
  const files = store.list("recording").map(({ id, name }) => ({ id, name }));
  const sessions = store.list("session").map(({ id, command }) => ({ id, name: command }));
  const all = [...files, ...sessions];
  setChildren(
    list,
    all.map(({ id, name }) =>
      h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "session", "aria-current": id === current && "true", onclick: () => void play(id) },
          h("code", {}, visible(name)),
        ),
      ),
    ),
  );
  if (all.length === 0) status.textContent = "There is nothing to replay.";
  const [only] = files;
  if (only !== undefined && all.length === 1 && current === undefined) void play(only.id);
}

async function play(id: number): Promise<void> {
  current = id;
  update();
  status.textContent = "Loading…";
  const response = await fetchWithKey(`recording/${id}`);
  if (!response.ok) {
    const isBusy = response.status === 503;
    status.textContent = isBusy
      ? "Too many recordings are loading. Try again."
      : "This recording is not there any more.";
    return;
  }
  const text = await response.text();
  player?.dispose();
  player = createPlayer(text, stage);
  status.textContent = "";
  setChildren(marks, findMarkers(text).map(createMark));
}

const createMark = ({ at, label }: { at: number; label: string }): HTMLLIElement =>
  h(
    "li",
    {},
    h(
      "button",
      { type: "button", onclick: () => player?.seek(at) },
      `${at.toFixed(1)} s · `,
      h("span", {}, visible(label)),
    ),
  );

function receive(message: ServerMessage): void {
  if (message.type === "set") store.set(message.entities);
  else if (message.type === "drop") store.drop(message.keys);
  else if (message.type === "hello") store.clear();
  else if (message.type === "ready") {
    document.body.dataset.ready = "true";
    update();
  }
}

store.watch("session", update);
store.watch("recording", update);
if (await enter()) {
  document.body.append(
    h(
      "header",
      { class: "bar" },
      h("h1", {}, "codex view"),
      h(
        "nav",
        { "aria-label": "Views" },
        h("a", { href: "/" }, "Live"),
        h("a", { href: "replay", "aria-current": "page" }, "Replay"),
      ),
    ),
    h(
      "main",
      { class: "replay-main" },
      panel("Replay", "replay", status, stage, h("h3", {}, "Jump to a call"), marks),
      h("section", { class: "panel recordings", "aria-label": "Recordings" }, h("h2", {}, "Recordings"), list),
    ),
  );
  new Connection({ message: receive, output: () => {}, state: () => {} }).open();
} else {
  document.body.append(
    h(
      "main",
      { class: "refused" },
      h("h1", {}, "A link is needed"),
      h("p", {}, "Each link opens in one browser, once."),
    ),
  );
}
