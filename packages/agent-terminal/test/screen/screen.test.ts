import { describe, expect, it } from "vitest";
import { Screen } from "../../src/screen/screen.js";

function setUp({ canDraw = true } = {}) {
  let written = "";
  let size = { columns: 20, rows: 5 };
  const waits: (() => void)[] = [];
  const region = { status: ["s1", "s2", "s3", "s4", "s5"], input: ["> ab"], cursorRow: 0, beforeCursor: "> a" };
  const screen = new Screen({
    output: {
      closed: new AbortController().signal,
      write: async (text) => {
        written += text;
      },
    },
    size: () => size,
    region: () => region,
    clock: {
      after(_ms, run) {
        waits.push(run);
        return () => {};
      },
    },
    paintStatus: (row) => row,
    reflows: true,
    canDraw,
  });
  const take = () => {
    const taken = written;
    written = "";
    return taken;
  };
  const resize = (columns: number, rows: number) => {
    size = { columns, rows };
  };
  return { screen, take, waits, resize };
}

describe("a screen", () => {
  it("draws its lower end behind what stays, never higher than the terminal", async () => {
    const { screen, take } = setUp();
    await screen.write("text\n");
    expect(take()).toBe("text\n\u001b[?7ls3\r\ns4\r\ns5\r\n> ab\r> a\u001b[?7h");
    await screen.write("more\n");
    expect(take().startsWith("\r\u001b[3A\u001b[Jmore\n")).toBe(true);
  });

  it("draws many changes once", () => {
    const { screen, take, waits } = setUp();
    for (let count = 0; count < 100; count += 1) screen.changed();
    expect(waits).toHaveLength(1);
    waits[0]?.();
    expect(take().match(/> ab/g)).toHaveLength(1);
  });

  it("gives the terminal away, and shows then what came meanwhile", async () => {
    const { screen, take } = setUp();
    screen.draw();
    take();
    screen.hold();
    expect(take()).toBe("\r\u001b[3A\u001b[J");
    const held = screen.write("meanwhile\n");
    screen.changed();
    screen.draw();
    expect(take()).toBe("");
    screen.release();
    await held;
    expect(take()).toMatch(/^meanwhile\n/);
  });

  it("takes its rows away where a narrower terminal has wrapped them", () => {
    const { screen, take, resize } = setUp();
    screen.draw();
    take();
    resize(1, 5);
    screen.draw();
    expect(take().startsWith("\r\u001b[6A\u001b[J")).toBe(true);
  });

  it("draws nothing that a terminal without a cursor would show", async () => {
    const { screen, take } = setUp({ canDraw: false });
    screen.draw();
    await screen.write("text\n");
    screen.close();
    expect(take()).toBe("text\n");
  });

  it("is closed with everything that was written, once", async () => {
    const { screen, take } = setUp();
    screen.hold();
    void screen.write("last\n");
    screen.close();
    screen.close();
    await screen.write("");
    expect(take()).toBe("last\n");
  });
});
