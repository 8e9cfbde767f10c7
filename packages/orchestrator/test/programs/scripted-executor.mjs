// A well-behaved executor without processes: the script of a command says what happens. Used in this process through
// `createScriptedExecutor`, and as a program over stdin and stdout.
//
//   say TEXT     prints TEXT and exits with 0
//   stay         prints "ready" and runs on as a session
//   hang         prints "partial" and answers only when it is cancelled
//   crash        prints "partial", and the executor goes away
//   breach HOW   in a sandbox fails with a denial, which HOW says is "certain" or a "guess"; outside says "done"
//   else         prints nothing and exits with 127
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const host = {
  os: "linux",
  arch: "x64",
  shell: { name: "bash", path: "/bin/bash" },
  cwd: "/srv/project",
  home: "/home/user",
  user: "user",
};

const hostOf = ({ sandbox }) => (sandbox === undefined ? host : { ...host, sandbox });
const EXITED = { kind: "exited", code: 0 };

const schema = (properties, required) => ({ type: "object", properties, required, additionalProperties: false });
const string = { type: "string" };
const number = { type: "number" };

export const scriptedTools = [
  {
    name: "exec_command",
    description: "Runs a script.",
    inputSchema: schema({ cmd: string, workdir: string, yield_time_ms: number, max_output_tokens: number }, ["cmd"]),
    contract: "unified_exec.exec_command",
  },
  {
    name: "write_stdin",
    description: "Writes to a session.",
    inputSchema: schema({ session_id: number, chars: string, yield_time_ms: number }, ["session_id"]),
    contract: "unified_exec.write_stdin",
  },
  { name: "show_arguments", description: "Shows what it was given.", inputSchema: schema({ session_id: number }, []) },
];

/** `send` takes messages, `crash` ends the executor. `initialize: false` knows only the base messages. */
export function createScriptedExecutor({ send, crash, ...options }) {
  const knows = options.initialize ?? true;
  const tools = options.tools ?? scriptedTools;
  const sessions = new Map();
  const hanging = new Map();
  const received = [];
  let nextId = options.firstSessionId ?? 1000;

  const answer = ({ requestId, toolName }, outcome) =>
    send({ type: "call_tool_response", requestId, toolName, outcome });
  const fail = (request, message) => answer(request, { status: "error", message });
  const output = (request, session, text) => {
    const bytes = Buffer.from(text);
    session.seq++;
    if (knows) {
      send({
        type: "tool_output",
        requestId: request.requestId,
        processId: session.id,
        seq: session.seq,
        offset: session.bytes,
        stream: "stdout",
        chunk: bytes.toString("base64"),
      });
    }
    session.bytes += bytes.length;
  };
  const succeed = (request, session, text, outcome, denial) => {
    const running = outcome.kind === "running";
    const state = running
      ? `Process running with session ID ${session.id}`
      : `Process exited with code ${outcome.code}`;
    const tokens = Math.ceil(Buffer.byteLength(text) / 4);
    const header = `Chunk ID: abc123\nWall time: 0.0100 seconds\n${state}\nOriginal token count: ${tokens}\nOutput:\n`;
    const structured = {
      chunkId: "abc123",
      wallTimeSeconds: 0.01,
      ...(running ? { processId: session.id } : { exitCode: outcome.code }),
      outcome,
      closed: !running,
      range: { from: session.bytes - Buffer.byteLength(text), to: session.bytes },
      omitted: [],
      originalTokenCount: tokens,
      sandboxDenied: denial?.certain ?? false,
      ...(denial === undefined ? {} : { sandboxDenial: denial }),
    };
    const content = [{ type: "input_text", text: header + text }];
    answer(request, { status: "success", content, ...(knows ? { structured } : {}) });
  };

  const deny = (request, session, how) => {
    const denial = { certain: how === "certain", reason: "the sandbox refused `/etc/x`" };
    output(request, session, "half");
    succeed(request, session, "half", { kind: "exited", code: 1 }, denial);
  };

  const exec = (request) => {
    const script = request.arguments.command[2];
    const session = { id: nextId++, seq: 0, bytes: 0 };
    const [verb] = script.split(" ");
    if (verb === "say") {
      const text = script.slice(4);
      output(request, session, text);
      return succeed(request, session, text, { kind: "exited", code: 0 });
    }
    if (verb === "breach") {
      const held = request.arguments.sandbox?.permissions.type === "managed";
      if (held) return deny(request, session, script.slice(7));
      output(request, session, "done");
      return succeed(request, session, "done", EXITED);
    }
    if (!["stay", "hang", "crash"].includes(verb)) return succeed(request, session, "", { kind: "exited", code: 127 });
    if (verb === "stay") {
      sessions.set(session.id, session);
      output(request, session, "ready");
      return succeed(request, session, "ready", { kind: "running" });
    }
    sessions.set(session.id, session);
    output(request, session, "partial");
    if (verb === "crash") return crash();
    hanging.set(request.requestId, () => succeed(request, session, "partial", { kind: "running" }));
  };

  const write = (request) => {
    const { processId, input } = request.arguments;
    const session = sessions.get(processId);
    if (session === undefined) return fail(request, `unknown session ${processId}`);
    if (input === "fail") return fail(request, "the input could not be delivered");
    output(request, session, input);
    if (input.startsWith("breach")) {
      sessions.delete(processId);
      return deny(request, session, input.slice(7));
    }
    if (!input.startsWith("exit")) return succeed(request, session, input, { kind: "running" });
    sessions.delete(processId);
    const outcome = { kind: "exited", code: Number(input.slice(5)) };
    succeed(request, session, input, outcome);
    if (knows) send({ type: "session_exited", processId, outcome });
  };

  const call = (request) => {
    const tool = tools.find(({ name }) => name === request.toolName);
    if (tool === undefined) return fail(request, `unknown executor tool \`${request.toolName}\``);
    if (tool.contract === "unified_exec.exec_command") return exec(request);
    if (tool.contract === "unified_exec.write_stdin") return write(request);
    const text = JSON.stringify(request.arguments);
    return answer(request, {
      status: "success",
      content: [{ type: "input_text", text }],
      structured: request.arguments,
    });
  };

  const handle = (message) => {
    received.push(message);
    const { type, requestId } = message;
    if (type === "list_tools") return send({ type: "list_tools_response", requestId, tools });
    if (type === "call_tool") return call(message);
    if (type === "shutdown") return send({ type: "shutdown_response", requestId });
    if (type === "cancel_tool" && knows) {
      const finish = hanging.get(requestId);
      hanging.delete(requestId);
      return finish?.();
    }
    if (type !== "initialize" || !knows)
      return send({ type: "error", requestId: null, message: `unknown type ${type}` });
    const capabilities = ["tool_output", "cancel_tool", "session_exited"];
    const sessionId = "executor-session";
    return send({
      type: "initialize_response",
      requestId,
      protocolVersion: "1",
      sessionId,
      capabilities,
      host: hostOf(options),
    });
  };
  return { handle, received };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // Whoever ends it does not wait for its last answer.
  process.stdout.on("error", () => {});
  const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const executor = createScriptedExecutor({ send, crash: () => process.exit(3) });
  process.stderr.write("scripted executor is here\n");
  for await (const line of createInterface({ input: process.stdin })) executor.handle(JSON.parse(line));
}
