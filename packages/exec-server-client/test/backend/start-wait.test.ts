import type { ProcessSpec } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { ENV } from "../../../process-host/test/support.js";
import { createRemoteBackend, type RemoteBackend } from "../../src/backend/remote-backend.js";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { START_WAIT_MS, START_WAIT_PARTS } from "../../src/limits.js";
import { ScriptedClock, type ScriptedConnection, ScriptedServer, useClients } from "../scripted-server.js";

const SPEC: ProcessSpec = { argv: ["sh"], cwd: "/a", env: ENV, stdio: { kind: "pipe", stdin: "null" } };
const TERMINAL: ProcessSpec = { ...SPEC, stdio: { kind: "pty" } };
const HELD: ProcessSpec = {
  ...SPEC,
  sandbox: {
    permissions: { type: "managed", file_system: { type: "restricted", entries: [] }, network: "restricted" },
  },
};
const KINDS: readonly (readonly [string, ProcessSpec])[] = [
  ["on pipes", SPEC],
  ["on a terminal", TERMINAL],
  ["in a sandbox", HELD],
];

const own = useClients();

async function connect() {
  const server = new ScriptedServer();
  const clock = new ScriptedClock();
  const connecting = own(ExecServerClient.connect(server, { clock }), clock);
  const connection = await server.accept();
  await connection.shakeHands("session");
  const client = await connecting;
  let id = 0;
  const backend = createRemoteBackend(client, { newId: () => `p${++id}` });
  return { server, clock, connection, client, backend };
}

async function loseConnection() {
  const { connection, ...rest } = await connect();
  rest.server.refusals = Number.POSITIVE_INFINITY;
  await connection.cut();
  await expect.poll(() => rest.client.sessionId).toBeUndefined();
  return {
    ...rest,
    /** The connection over which the session is resumed. */
    async resume() {
      rest.server.refusals = 0;
      const accepting = rest.server.accept();
      rest.clock.pass(2_000);
      const next = await accepting;
      await next.shakeHands("session");
      return next;
    },
  };
}

/** Another start is the first that the server gets. */
async function expectOnlyOther(server: ScriptedConnection, backend: RemoteBackend): Promise<void> {
  const other = backend.start({ ...SPEC, argv: ["other"] });
  const request = await server.take("process/start");
  expect(request.params.argv).toEqual(["other"]);
  await server.respond(request, { processId: request.params.processId, sandboxType: "none" });
  await other;
}

describe("a start while the connection is lost", () => {
  it.each(KINDS)("is given up while an orchestrator still waits, and is not sent later: %s", async (_name, spec) => {
    const { backend, clock, resume } = await loseConnection();
    const failed = expect(backend.start(spec)).rejects.toMatchObject({ name: "StartError", code: "unreachable" });
    for (let part = 0; part < START_WAIT_PARTS; part += 1) clock.pass(START_WAIT_MS / START_WAIT_PARTS);
    await failed;
    const next = await resume();
    await expectOnlyOther(next, backend);
  });

  it.each(KINDS)("is given up with its call, and is not sent later: %s", async (_name, spec) => {
    const { backend, resume } = await loseConnection();
    const call = new AbortController();
    const failed = expect(backend.start(spec, call.signal)).rejects.toMatchObject({ code: "unreachable" });
    call.abort();
    await failed;
    const next = await resume();
    await expectOnlyOther(next, backend);
  });

  it("is sent once the session is resumed in time", async () => {
    const { backend, resume } = await loseConnection();
    const started = backend.start(SPEC);
    const next = await resume();
    expect(await next.start()).toBe("p1");
    await started;
  });

  it("is sent over a connection that answers after a jump of the clock", async () => {
    const { backend, clock, connection } = await connect();
    const started = backend.start(TERMINAL);
    const request = await connection.take("fs/getMetadata");
    clock.pass(START_WAIT_MS);
    await connection.respond(request, { isDirectory: true });
    expect(await connection.start()).toBe("p1");
    await started;
  });

  it("is not given up any more once it was sent", async () => {
    const { backend, clock, connection } = await connect();
    const call = new AbortController();
    const started = backend.start(SPEC, call.signal);
    const request = await connection.take("process/start");
    call.abort();
    for (let part = 0; part < START_WAIT_PARTS; part += 1) clock.pass(START_WAIT_MS / START_WAIT_PARTS);
    await connection.respond(request, { processId: "p1", sandboxType: "none" });
    await started;
  });
});
