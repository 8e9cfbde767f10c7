import { expect, it } from "vitest";
import { escapeForTerminal } from "../../src/log/format.js";

it("text for a terminal keeps its lines and tabs, and nothing in it controls the terminal", () => {
  expect(escapeForTerminal("a\tb\n\u001b]0;t\u0007\r\u009b2J\u202e é")).toBe(
    "a\tb\n\\u001b]0;t\\u0007\\u000d\\u009b2J\\u202e é",
  );
});
