import { expect, it } from "vitest";
import { Board } from "../../src/live/board.js";
import { ConversationPanel } from "../../src/live/conversation.js";
import { Items } from "../../src/live/items.js";

it("shows nothing of an item that a retry discarded, also not what was to be shown a moment later", () => {
  const shown = new Map<string, unknown>();
  const board = new Board({
    set: (entities) => {
      for (const entity of entities) shown.set(`${entity.kind} ${entity.id}`, entity);
    },
    drop: (keys) => {
      for (const key of keys) shown.delete(key);
    },
  });
  const items = new Items(board);
  const panel = new ConversationPanel(board, items);
  const append = (text: string) => panel.show({ type: "item_delta", itemId: "item_1", of: "text", text });
  append("I will delete every");
  panel.show({ type: "retry", message: "again", discarded: ["item_1"] });
  items.settle();
  board.flush();
  expect([...shown.keys()]).toEqual(["item retry again"]);
  append("I will");
  items.settle();
  board.flush();
  expect(shown.get("item item item_1")).toMatchObject({ content: { text: "I will" } });
});
