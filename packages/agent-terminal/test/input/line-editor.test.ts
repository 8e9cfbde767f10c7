import { describe, expect, it } from "vitest";
import type { Key } from "../../src/input/keys.js";
import { LineEditor } from "../../src/input/line-editor.js";

const text = (typed: string): Key => ({ name: "text", text: typed, raw: typed });
const paste = (pasted: string): Key => ({ name: "paste", text: pasted, raw: pasted });
const key = (name: Exclude<Key["name"], "text" | "paste">): Key => ({ name, raw: "" });

function edit(...keys: Key[]) {
  const editor = new LineEditor();
  const actions = keys.map((each) => editor.handle(each));
  return { editor, actions, text: editor.draft.text };
}

describe("a line that is edited", () => {
  it.each<[string, Key[], string]>([
    ["inserts where the cursor is", [text("ac"), key("left"), text("b")], "abc"],
    ["removes whole characters", [text("ae\u0301👩‍👩‍👧"), key("backspace"), key("backspace")], "a"],
    ["removes words", [text("one two  "), key("delete_word")], "one "],
    ["removes to both ends of its line", [text("a b c"), key("word_left"), key("delete_to_start")], "c"],
    ["keeps to its line", [text("one\\"), key("enter"), text("two"), key("home"), key("delete_to_end")], "one\n"],
    [
      "moves between lines",
      [text("long\\"), key("enter"), text("b"), key("up"), text("X"), key("down"), text("Y")],
      "lXong\nbY",
    ],
    ["has another line behind a backslash, and by Alt-Enter", [text("a\\"), key("enter"), key("newline")], "a\n\n"],
  ])("%s", (_name, keys, expected) => {
    expect(edit(...keys).text).toBe(expected);
  });

  it("is submitted by Enter, unless it is blank", () => {
    const { actions, text: left } = edit(text("  "), key("enter"), text("x"), key("enter"));
    expect(actions.map(({ type }) => type)).toEqual(["edited", "edited", "edited", "submitted"]);
    expect(actions[3]).toMatchObject({ text: "  x" });
    expect(left).toBe("");
  });

  it("has what was submitted before, and then again what was being typed", () => {
    const before = [text("one"), key("enter"), text("two"), key("enter"), text("new")];
    expect(edit(...before, key("up")).text).toBe("two");
    expect(edit(...before, key("up"), key("up"), key("up")).text).toBe("one");
    expect(edit(...before, key("up"), key("up"), key("down"), key("down")).text).toBe("new");
  });

  it("draws a long paste by its size, and sends it whole", () => {
    const lines = Array.from({ length: 500 }, (_, index) => `row ${index}`).join("\n");
    const { editor } = edit(text("see "), paste(lines), text(" end"));
    expect(editor.draft.layOut(80).rows).toEqual(["see [500 lines] end"]);
    expect(editor.draft.text).toBe(`see ${lines} end`);
    editor.handle(key("left"));
    for (let count = 0; count < 4; count += 1) editor.handle(key("backspace"));
    expect(editor.draft.text).toBe("see d");
  });

  it.each([1, 2, 3, 10, 80])("has its cursor in a row that is there, at %i columns", (columns) => {
    const editor = new LineEditor();
    for (const each of [text("some words 日本 \u001b[31m"), key("newline"), text("more\ttext")]) editor.handle(each);
    for (let count = 0; count < 40; count += 1) {
      const { rows, cursorRow, beforeCursor } = editor.draft.layOut(columns);
      expect(rows[cursorRow]?.startsWith(beforeCursor)).toBe(true);
      expect(rows.join("")).not.toContain("\u001b");
      editor.handle(key("left"));
    }
  });
});
