import { describe, expect, it } from "vitest";
import type { ExecutorTool } from "../../src/index.js";
import { createToolRegistry } from "../../src/tools/tool-registry.js";

const tool = (name: string): ExecutorTool => ({
  spec: { name, description: "", inputSchema: {} },
  call: async () => ({ status: "error", message: "unused" }),
});

describe("a tool registry", () => {
  it("lists in order, tells changes, and takes a tool back", () => {
    const registry = createToolRegistry();
    let changes = 0;
    const unwatch = registry.watch(() => changes++);
    const remove = registry.add(tool("b"));
    registry.add(tool("a"));
    expect(registry.list().map(({ spec }) => spec.name)).toEqual(["b", "a"]);
    remove();
    remove();
    expect(registry.get("b")).toBeUndefined();
    expect(changes).toBe(3);
    unwatch();
    registry.add(tool("c"));
    expect(changes).toBe(3);
  });

  it("does not take back what somebody else added under the name", () => {
    const registry = createToolRegistry();
    const remove = registry.add(tool("a"));
    remove();
    const second = tool("a");
    registry.add(second);
    remove();
    expect(registry.get("a")).toBe(second);
  });

  it.each([
    ["a", /already a tool named `a`/],
    ["exec_command", /already a tool named `exec_command`/],
    ["", /must have a name/],
  ])("refuses the name %j", (name, problem) => {
    const registry = createToolRegistry(new Set(["exec_command"]));
    registry.add(tool("a"));
    expect(() => registry.add(tool(name))).toThrow(problem);
  });
});
