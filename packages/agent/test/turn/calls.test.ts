import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentTool } from "@codex/agent";
import { customCall, cutAfter, functionCall, lastOutput, message, respond, say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { completedItems, readAll, startAgent } from "./support.js";

const exec = (id: string, cmd: string, more: object = {}) => functionCall(id, "exec_command", { cmd, ...more });

describe("a call", () => {
  const echo: AgentTool = {
    spec: { name: "echo", description: "", inputSchema: { type: "object" }, grammar: "start: /.+/" },
    call: (args) => Promise.resolve({ output: `got ${JSON.stringify(args)}` }),
  };
  it.each<[string, ReturnType<typeof functionCall>, RegExp]>([
    ["of an unknown tool", functionCall("c", "nope", {}), /no tool `nope`.*exec_command/],
    ["with arguments that are not JSON", functionCall("c", "exec_command", "{cmd"), /JSON/],
    ["without a key", functionCall("c", "exec_command", {}), /cmd/],
    ["with a key of the wrong type", functionCall("c", "exec_command", { cmd: 1 }), /cmd/],
    ["of a function in custom form", customCall("c", "exec_command", '{"cmd":"echo hi"}'), /hi/],
    ["of a custom tool in function form", functionCall("c", "echo", { input: "x" }), /got \{"input":"x"\}/],
    [
      "of a custom tool with bare text as arguments",
      functionCall("c", "echo", "*** Begin"),
      /got \{"input":"\*\*\* Begin"\}/,
    ],
    ["of a custom tool", customCall("c", "echo", "x"), /got \{"input":"x"\}/],
    ["in the namespace of functions", functionCall("c", "exec_command", { cmd: "echo hi" }, "functions"), /hi/],
    ["with the namespace in its name", functionCall("c", "functions.exec_command", { cmd: "echo hi" }), /hi/],
    ["with an unknown argument", functionCall("c", "exec_command", { cmd: "echo hi", colour: 1 }), /hi/],
    ["of a list as arguments", functionCall("c", "echo", "[1]"), /are a list; expected a JSON object/],
    ["without arguments", functionCall("c", "list_sessions", ""), /session/i],
  ])("%s is answered", async (_name, call, expected) => {
    const { thread, endpoint } = await startAgent([respond(call), say("ok")], { agent: { tools: [echo] } });
    await readAll(thread.run("go"));
    const answer = endpoint.requests[1]!.body.input.at(-1)!;
    expect(answer.type).toBe(`${call.type}_output`);
    expect(String(answer.output)).toMatch(expected);
  });

  it("without a call id is reported to the user", async () => {
    const { thread } = await startAgent([respond({ type: "function_call", name: "f", arguments: "{}" })]);
    expect(completedItems(await readAll(thread.run("go")))).toMatchObject([
      { kind: "warning", message: expect.stringContaining("no call_id") as string },
    ]);
  });

  it("that is repeated in a response is made once", async () => {
    const { thread, cwd } = await startAgent([
      respond(exec("c1", "echo x >> log"), exec("c1", "echo y >> other"), exec("c1", "echo x >> log")),
      say("ok"),
    ]);
    await thread.run("go").result;
    expect(readFileSync(join(cwd, "log"), "utf8")).toBe("x\n");
    expect(readFileSync(join(cwd, "other"), "utf8")).toBe("y\n");
  });

  it("that is repeated when its stream broke is made once", async () => {
    const items = [exec("c1", "echo x >> log"), message("hm")];
    const { thread, cwd, endpoint } = await startAgent((_, index) =>
      index === 0 ? cutAfter(3, ...items) : index === 1 ? respond(...items) : say("ok"),
    );
    await readAll(thread.run("go"));
    expect(readFileSync(join(cwd, "log"), "utf8")).toBe("x\n");
    expect(endpoint.requests.at(-1)!.body.input.filter(({ type }) => type === "function_call_output")).toHaveLength(1);
  });

  it("with an id of an earlier response gets one of its own", async () => {
    const { thread, endpoint, cwd } = await startAgent((_, index) =>
      index < 3 ? respond(exec("call_0", "echo x >> log")) : say("ok"),
    );
    await thread.run("go").result;
    expect(readFileSync(join(cwd, "log"), "utf8")).toBe("x\nx\nx\n");
    const last = endpoint.requests.at(-1)!.body.input;
    const ids = (type: string) => last.filter((item) => item.type === type).map((item) => item.call_id);
    expect(ids("function_call")).toEqual(["call_0", "call_0-2", "call_0-3"]);
    expect(ids("function_call_output")).toEqual(ids("function_call"));
  });

  it("of an exclusive tool waits for those before it, and holds back those after it", async () => {
    const order: string[] = [];
    const tool = (name: string, exclusive: boolean, ticks: number): AgentTool => ({
      spec: { name, description: "", inputSchema: {} },
      exclusive,
      async call() {
        order.push(`${name} begins`);
        for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
        order.push(`${name} ends`);
        return { output: name };
      },
    });
    const tools = [tool("a", false, 5), tool("b", false, 1), tool("patch", true, 5), tool("c", false, 1)];
    const calls = ["a", "b", "patch", "c"].map((name) => functionCall(name, name, {}));
    const { thread, endpoint } = await startAgent([respond(...calls), say("ok")], { agent: { tools } });
    await thread.run("go").result;
    expect(order).toEqual([
      ...["a begins", "b begins", "b ends", "a ends", "patch begins", "patch ends", "c begins", "c ends"],
    ]);
    expect(endpoint.requests[1]!.body.input.slice(-4).map(({ output }) => output)).toEqual(["a", "b", "patch", "c"]);
  });

  it("of another tool can be taken over", async () => {
    const taker: AgentTool = {
      ...echo,
      intercept: (name, args) =>
        name === "exec_command" && args.cmd === "special"
          ? { call: async (context) => ({ output: `taken in ${context.environment}` }) }
          : undefined,
    };
    const { thread, endpoint } = await startAgent([respond(exec("c1", "special")), say("ok")], {
      agent: { tools: [taker] },
    });
    await readAll(thread.run("go"));
    expect(lastOutput(endpoint.requests[1]!.body.input)).toBe("taken in local");
  });
});
