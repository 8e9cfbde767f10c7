import type { StyledRun, StyledScreen } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { renderPng } from "../../src/screenshot/png.js";
import { renderScreenshot } from "../../src/screenshot/render-screenshot.js";

const screenOf = (styledRows: StyledRun[][], more: Partial<StyledScreen> = {}): StyledScreen => ({
  ...{ sessionId: 1, size: { rows: 4, cols: 20 }, title: "", gone: [], styledRows },
  ...{ cursor: { row: 1, col: 1, visible: true }, outcome: { kind: "running" } },
  ...more,
});

const run = (text: string, style: Partial<StyledRun> = {}): StyledRun => ({ text, cells: text.length, ...style });

describe("a picture of a terminal", () => {
  it.each([
    [{ fg: 1 }, /fill="#ff7b72"/],
    [{ fg: 1, bold: true }, /fill="#ffa198" font-weight="700"/],
    [{ fg: 16 }, /fill="#000000"/],
    [{ fg: 231 }, /fill="#ffffff"/],
    [{ fg: 110 }, /fill="#87afd7"/],
    [{ fg: 232 }, /fill="#080808"/],
    [{ fg: 255 }, /fill="#eeeeee"/],
    [{ fg: "#0a0b0c" }, /fill="#0a0b0c"/],
    [{ bg: "#0a0b0c" }, /<rect x="0" y="0" width="8.4" [^>]*fill="#0a0b0c"/],
    [{ fg: "#0a0b0c", inverse: true }, /<rect x="0" [^>]*fill="#0a0b0c"[\s\S]*<text [^>]*fill="#0d1117"/],
    [{ italic: true, dim: true }, /font-style="italic" opacity="0.6"/],
    [{ underline: true, strikethrough: true }, /text-decoration="underline line-through"/],
  ] satisfies [Partial<StyledRun>, RegExp][])("draws %j", async (style, expected) => {
    expect(await renderScreenshot(screenOf([[run("x", style)]]), "svg")).toMatch(expected);
  });

  it("keeps columns where they are, whatever the width of a character", async () => {
    const row = [run("日本", { cells: 4 }), run("x")];
    expect(await renderScreenshot(screenOf([row]), "svg")).toMatch(/x="0" [^>]*textLength="33.6".*x="33.6" /);
  });

  it.each([
    [{ row: 2, col: 3, visible: true }, { kind: "running" }, true],
    [{ row: 2, col: 3, visible: false }, { kind: "running" }, false],
    [{ row: 2, col: 3, visible: true }, { kind: "exited", code: 0 }, false],
  ] satisfies [StyledScreen["cursor"], StyledScreen["outcome"], boolean][])(
    "shows the cursor %j of a program that is %j: %s",
    async (cursor, outcome, isShown) => {
      const svg = String(await renderScreenshot(screenOf([], { cursor, outcome }), "svg"));
      expect(svg.includes('<rect x="16.8" y="17"')).toBe(isShown);
    },
  );

  it("has nothing of a program in it but text", async () => {
    const hostile = '<script>alert(1)</script>&"\u0000\u202e\ud800]]>';
    const svg = String(await renderScreenshot(screenOf([[run(hostile)]], { title: hostile }), "svg"));
    expect(svg).not.toContain("<script");
    expect(svg).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;\ufffd\ufffd\ufffd]]&gt;");
    expect(svg.match(/<text /g)).toHaveLength(2);
  });

  it("is text without blanks at the ends of lines", async () => {
    const screen = screenOf([[run("a "), run(" b", { fg: 2 }), run("  ", { bg: 3 })], [], [run("c")]]);
    expect(await renderScreenshot(screen, "txt")).toBe("a  b\n\nc\n");
  });
});

describe("a PNG", () => {
  it("says what it lacks: the package, or fonts", async () => {
    const blank = { render: () => ({ asPng: () => new Uint8Array(), pixels: new Uint8Array(4) }) };
    const rasterizer = {
      Resvg: class {
        render = blank.render;
      },
    };
    await expect(renderPng("<svg/>", async () => rasterizer)).rejects.toThrow(/this host has none: install some/);
    const missing = () => renderPng("<svg/>", () => Promise.reject(new Error("not found")));
    await expect(missing()).rejects.toThrow("not found");
  });
});
