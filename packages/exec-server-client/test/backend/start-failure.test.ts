import { type ProcessSpec, StartError, UnknownStartError } from "@codex/exec-backend";
import { describe, expect, it } from "vitest";
import { ENV } from "../../../process-host/test/support.js";
import { createRemoteBackend } from "../../src/backend/remote-backend.js";
import { ClientError } from "../../src/errors.js";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { type ScriptedConnection, ScriptedServer, useClients } from "../scripted-server.js";

const SPEC: ProcessSpec = { argv: ["sh"], cwd: "/a", env: ENV, stdio: { kind: "pipe", stdin: "null" } };
const TERMINAL: ProcessSpec = { ...SPEC, stdio: { kind: "pty" } };
const HELD: ProcessSpec = {
  ...SPEC,
  sandbox: {
    permissions: { type: "managed", file_system: { type: "restricted", entries: [] }, network: "restricted" },
  },
};
const SHELL = { shell: { name: "sh", path: "/bin/sh" } };
const abilities = (capabilities: object) => ({ environmentInfo: { ...SHELL, capabilities } });

const own = useClients();

async function connect(info: object = {}) {
  const server = new ScriptedServer(false);
  const connecting = own(ExecServerClient.connect(server));
  const connection = await server.accept();
  await connection.shakeHands("session", info);
  const client = await connecting;
  return { server, connection, client, backend: createRemoteBackend(client, { newId: () => "p" }) };
}

/** A start that fails, and what a server does with it. */
async function fail(spec: ProcessSpec, play: (connection: ScriptedConnection) => Promise<unknown>): Promise<Error> {
  const { connection, backend } = await connect();
  const failure = backend.start(spec).then(
    () => expect.unreachable("it was started"),
    (error: Error) => error,
  );
  await play(connection);
  return failure;
}

describe("a start that fails", () => {
  it.each<[string, ProcessSpec, (connection: ScriptedConnection) => Promise<unknown>, string]>([
    [
      "refused by the server",
      SPEC,
      async (server) => server.refuse(await server.take("process/start"), -32603, "no"),
      "os_error",
    ],
    [
      "refused, and the connection breaks while the cause is determined",
      SPEC,
      async (server) => {
        await server.refuse(await server.take("process/start"), -32603, "No such file (os error 2)");
        await server.take("fs/getMetadata");
        await server.cut();
      },
      "program_not_found",
    ],
    [
      "by a connection that breaks before it is sent",
      TERMINAL,
      async (server) => {
        await server.take("fs/getMetadata");
        await server.cut();
      },
      "closed",
    ],
    [
      "for a directory that is not there",
      TERMINAL,
      async (server) => server.refuse(await server.take("fs/getMetadata"), -32004, "missing"),
      "cwd_not_found",
    ],
  ])("has started nothing: %s", async (_name, spec, play, code) => {
    const error = await fail(spec, play);
    expect(error).toBeInstanceOf(code === "closed" ? ClientError : StartError);
    expect(error).toMatchObject({ code });
  });

  it("has started nothing where the client was closed, or the connection gone", async () => {
    const closed = await connect();
    await closed.client.close();
    await expect(closed.backend.start(SPEC)).rejects.toBeInstanceOf(ClientError);
    const gone = await connect();
    await gone.connection.cut();
    await expect(gone.client.environment.status()).rejects.toThrow();
    await expect(gone.backend.start(SPEC)).rejects.toBeInstanceOf(ClientError);
  });

  it("has started nothing where the request is too large for any connection", async () => {
    const { backend } = await connect();
    const env = { ...ENV, LARGE: "x".repeat(70 * 1024 * 1024) };
    await expect(backend.start({ ...SPEC, env })).rejects.toMatchObject({ name: "ChannelError", code: "too_large" });
  });

  it("may have started something where the connection breaks before the response", async () => {
    const error = await fail(SPEC, async (server) => {
      await server.take("process/start");
      await server.cut();
    });
    expect(error).toBeInstanceOf(UnknownStartError);
    expect(error).toMatchObject({ cause: { name: "ClientError", code: "connection_lost" } });
  });

  it("may have started something where the response cannot be read, and that is ended", async () => {
    const error = await fail(SPEC, async (server) => {
      await server.respond(await server.take("process/start"), { processId: 7 });
      const ending = await server.take("process/terminate");
      expect(ending.params).toEqual({ processId: "p" });
      await server.respond(ending, {});
    });
    expect(error).toMatchObject({
      name: "UnknownStartError",
      cause: { name: "ClientError", code: "invalid_response" },
    });
  });
});

describe("a start that has to be held", () => {
  it.each([
    ["says nothing of sandboxes", {}],
    ["says that it cannot", abilities({ sandboxedFileStreaming: false })],
    ["tells nothing of itself", { environmentInfo: null }],
  ])("is never sent to a server that %s", async (_name, info) => {
    const { connection, backend } = await connect(info);
    const failed = expect(backend.start(HELD)).rejects.toMatchObject({
      name: "StartError",
      code: "sandbox_unavailable",
    });
    if ("environmentInfo" in info && info.environmentInfo === null) {
      await connection.refuse(await connection.take("environment/info"), -32601, "unknown");
    }
    await failed;
    expect(await Promise.race([backend.getSandboxSupport?.(), unknownInfo(connection, info)])).toMatchObject({
      kind: "none",
    });
    // The next that comes is another one, without a sandbox.
    const free = backend.start(SPEC);
    expect((await connection.take("process/start")).params.sandbox).toBeNull();
    await connection.cut();
    await expect(free).rejects.toThrow();
  });

  it.each([
    ["names the capability", abilities({ sandboxedFileStreaming: true })],
    ["reports sandboxed processes", { sandboxedProcess: true }],
  ])("is sent to one that %s", async (_name, info) => {
    const { connection, backend } = await connect(info);
    const held = backend.start(HELD);
    const request = await connection.take("process/start");
    expect(request.params.sandbox).not.toBeNull();
    await connection.respond(request, { processId: "p", sandboxType: "linuxSeccomp" });
    expect((await held).sandboxType).toBe("linuxSeccomp");
  });

  it("is ended and lost where the response names no sandbox after all: it has run", async () => {
    const { connection, backend } = await connect(abilities({ sandboxedFileStreaming: true }));
    const failed = expect(backend.start(HELD)).rejects.toMatchObject({
      name: "UnknownStartError",
    });
    await connection.start();
    const ending = await connection.take("process/terminate");
    await connection.respond(ending, { running: true });
    await connection.exited("p", 1, 137);
    await connection.closed("p", 2);
    await failed;
  });

  /** Responds to a repeated request again. */
  async function unknownInfo(connection: ScriptedConnection, info: { environmentInfo?: unknown }) {
    if (info.environmentInfo !== null) return new Promise<never>(() => {});
    await connection.refuse(await connection.take("environment/info"), -32601, "unknown");
    return new Promise<never>(() => {});
  }
});

describe("why nothing was started", () => {
  it.each(["program_not_found", "cwd_not_found", "not_executable", "sandbox_invalid", "no_terminal"])(
    "is recognized by a word in the message: %s",
    async (code) => {
      const error = await fail(SPEC, async (server) =>
        server.refuse(await server.take("process/start"), -32603, "pas possible (os error 13)", { code }),
      );
      expect(error).toMatchObject({ name: "StartError", code });
    },
  );

  it("is read from the sentence where there is no word that is known", async () => {
    const error = await fail(SPEC, async (server) =>
      server.refuse(await server.take("process/start"), -32603, "Permission denied (os error 13)", { code: "new" }),
    );
    expect(error).toMatchObject({
      code: "not_executable",
      message: expect.stringMatching(/Permission denied \(os error 13\), for it or for working directory `.+`$/),
    });
  });
});
