import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  customCall,
  cutAfter,
  fail,
  failed,
  functionCall,
  incomplete,
  message,
  type Reply,
  reasoning,
  refusal,
  renderEvent,
  respond,
  responseEvents,
  type Script,
  say,
  stream,
} from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { useCommand } from "../support.js";
import { eventsOf, itemsOf, setUpAgent, shell } from "./support.js";

const command = useCommand();
const UNHELD = { config: 'sandbox_mode = "danger-full-access"' };

describe("codex exec --json shows a response", () => {
  const whole = responseEvents([message("done")]);
  const forms: [string, Reply][] = [
    ["with CRLF", stream(whole, { lineEnd: "\r\n" })],
    ["without event lines", stream(whole, { eventNames: false })],
    ["with data over several lines", stream(whole, { splitData: true })],
    ["on a connection that stays open", stream(whole, { ending: "open" })],
    [
      "among comments, unknown events and broken JSON",
      {
        headers: { "content-type": "text/event-stream" },
        body: [
          ": hi\n\n",
          "data: {broken\n\n",
          "data: [DONE]\n\n",
          'data: {"type":"odd"}\n\n',
          ...whole.map((one) => renderEvent(one)),
        ],
      },
    ],
  ];

  it.each(forms)("%s", async (_name, reply) => {
    const { run } = await setUpAgent(command, [reply]);
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    expect(itemsOf(stdout)).toEqual([{ id: "item_0", type: "agent_message", text: "done" }]);
  });

  it("with reasoning, a refusal, and calls of both forms side by side", async () => {
    const { endpoint, repository, run } = await setUpAgent(
      command,
      [
        respond(
          reasoning("Hm."),
          shell("c1", "echo one"),
          customCall("c2", "exec_command", JSON.stringify({ cmd: "echo two", login: false })),
          functionCall("c3", "apply_patch", { input: "*** Begin Patch\n*** Add File: a.txt\n+three\n*** End Patch" }),
        ),
        respond(refusal("I will not.")),
      ],
      UNHELD,
    );
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    const items = itemsOf(stdout);
    expect(items.map(({ type }) => type).sort()).toEqual([
      "agent_message",
      "command_execution",
      "command_execution",
      "file_change",
      "reasoning",
    ]);
    expect(items.at(-1)).toMatchObject({ text: "I will not.", refusal: true });
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("three\n");
    const outputs = endpoint.requests[1]?.body.input.slice(-3) ?? [];
    expect(outputs.map(({ type, call_id }) => [type, call_id])).toEqual([
      ["function_call_output", "c1"],
      ["custom_tool_call_output", "c2"],
      ["function_call_output", "c3"],
    ]);
  });

  it("of 20 MB of deltas", async () => {
    const delta = renderEvent({ type: "response.output_text.delta", item_id: "m1", delta: "x".repeat(10_000) });
    const body = (function* () {
      for (let count = 0; count < 2_000; count += 1) yield delta;
      for (const event of responseEvents([message("done")])) yield renderEvent(event);
    })();
    const { run } = await setUpAgent(command, [{ headers: { "content-type": "text/event-stream" }, body }]);
    const { code, stdout } = await run(["--json", "--json-deltas", "go"]);
    expect(code).toBe(0);
    const deltas = eventsOf(stdout).filter(({ type }) => type === "item.delta");
    expect(deltas.reduce((sum, { delta: text }) => sum + String(text).length, 0)).toBe(20_000_000 + "done".length);
  });
});

describe("codex exec answers a call that cannot be carried out", () => {
  it.each<[string, ReturnType<typeof functionCall>, RegExp]>([
    ["of an unknown tool", functionCall("c1", "fly", {}), /no tool `fly`/],
    ["with arguments that are no JSON", functionCall("c1", "exec_command", "{cmd"), /JSON/],
    ["without what is needed", functionCall("c1", "exec_command", { command: "ls" }), /cmd/],
    ["with another type", functionCall("c1", "exec_command", { cmd: 7 }), /cmd/],
    [
      "with absurd numbers",
      functionCall("c1", "exec_command", { cmd: "true", yield_time_ms: 1e300 }),
      /yield_time_ms|code 0/,
    ],
    ["with a directory that is no text", functionCall("c1", "exec_command", { cmd: "true", workdir: {} }), /workdir/],
    ["with a deep value", functionCall("c1", "exec_command", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`), /./],
  ])("%s", async (_name, call, expected) => {
    const { endpoint, run } = await setUpAgent(command, [respond(call), say("done")], UNHELD);
    const { code } = await run(["go"]);
    expect(code).toBe(0);
    expect(String(endpoint.requests[1]?.body.input.at(-1)?.output)).toMatch(expected);
  });

  it("and says which one it had to drop", async () => {
    const nameless = { type: "function_call", name: "exec_command", arguments: "{}" };
    const { run } = await setUpAgent(command, [respond(nameless), say("done")]);
    const { code, stdout } = await run(["--json", "go"]);
    expect(code).toBe(0);
    expect(itemsOf(stdout)[0]).toMatchObject({ type: "error", message: expect.stringContaining("call_id") });
  });
});

describe("codex exec asks an endpoint again", () => {
  const QUICK = { provider: "request_max_retries = 1\nstream_max_retries = 1" };

  it.each<[string, Reply]>([
    ["429 with Retry-After", fail(429, "", { "retry-after": "0" })],
    ["429 without", fail(429, "")],
    ["a server error", fail(503, "")],
    ["a stream that is cut", cutAfter(2, message("x"))],
    ["a failed response", failed("server_error", "oops")],
    ["a filter", incomplete("content_filter", message("x"))],
  ])("after %s", async (_name, reply) => {
    const { endpoint, run } = await setUpAgent(command, [reply, say("done")], QUICK);
    const { code, stdout } = await run(["--json", "go"]);
    expect([code, endpoint.requests.length]).toEqual([0, 2]);
    expect(itemsOf(stdout).at(-1)).toMatchObject({ text: "done" });
  });

  it.each<[string, Reply, RegExp]>([
    ["400", fail(400, { error: { message: "wrong thing" } }), /wrong thing/],
    ["401", fail(401, ""), /MINE/],
    ["a spent quota", fail(429, { error: { code: "insufficient_quota", message: "no more" } }), /no more/],
    ["an answer that is too long", incomplete("max_output_tokens"), /max_output_tokens/],
    ["a prompt that is too long", failed("context_length_exceeded", "too long"), /too long/],
    ["a redirect", fail(307, "", { location: "http://127.0.0.1:1/elsewhere" }), /base_url/],
  ])("not after %s", async (_name, reply, expected) => {
    const { endpoint, run } = await setUpAgent(command, () => reply, QUICK);
    const { code, stdout } = await run(["--json", "go"]);
    expect([code, endpoint.requests.length]).toEqual([1, 1]);
    const events = eventsOf(stdout);
    expect(events.filter(({ type }) => type === "turn.failed")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { message: expect.stringMatching(expected) } });
  });
});

describe("a stream that is cut", () => {
  const items = [
    message("first"),
    shell("c1", "echo one >> log"),
    shell("c2", "echo two >> log"),
    message("last", "m2"),
  ];
  const count = responseEvents(items).length;

  it.each(Array.from({ length: count }, (_, index) => index))(
    "behind %i of its events: no call runs twice, and none is lost",
    async (events) => {
      const again: Script = (request, index) => {
        if (index === 0) return cutAfter(events, ...items);
        // The model goes on from what it was told: it makes the calls that it has not seen answered.
        const answered = request.body.input.filter(({ type }) => type === "function_call_output").length;
        return index === 1 && answered < 2 ? respond(...items.slice(1 + answered, 3)) : say("done");
      };
      const { repository, run } = await setUpAgent(command, again, { ...UNHELD, provider: "stream_max_retries = 2" });
      const { code, stdout } = await run(["--json", "go"]);
      expect(code).toBe(0);
      expect(existsSync(join(repository, "log"))).toBe(true);
      expect(readFileSync(join(repository, "log"), "utf8").split("\n").sort()).toEqual(["", "one", "two"]);
      const shown = itemsOf(stdout).filter(({ type }) => type === "command_execution");
      expect(shown.map(({ status }) => status)).toEqual(["completed", "completed"]);
    },
  );
});
