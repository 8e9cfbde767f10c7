import { describe, expect, it } from "vitest";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { Recorder, ScriptedServer, START, useClients } from "../scripted-server.js";

describe("events of a process", () => {
  const own = useClients();

  async function connect() {
    const server = new ScriptedServer();
    const connecting = own(ExecServerClient.connect(server));
    const connection = await server.accept();
    await connection.shakeHands("session");
    return { server, connection, client: await connecting };
  }

  it("are taken before the response to the start comes", async () => {
    const { client, connection } = await connect();
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    const request = await connection.take("process/start");
    await connection.output("p", 1, "early");
    await connection.exited("p", 2, 3);
    await connection.closed("p", 3);
    await connection.respond(request, { processId: "p", sandboxType: "none" });
    expect((await starting).sandboxType).toBe("none");
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["early", "exited 3", "closed"]);
    expect(request.params).toEqual({
      ...START,
      processId: "p",
      pipeStdin: false,
      arg0: null,
      envPolicy: null,
      sandbox: null,
    });
  });

  it("are put in order, and what is repeated is dropped", async () => {
    const { client, connection } = await connect();
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await starting;
    await connection.output("p", 2, "b");
    await connection.output("p", 2, "b");
    await connection.output("p", 1, "a");
    await connection.output("p", 1, "a");
    await connection.closed("p", 4);
    await connection.exited("p", 3, 0);
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["a", "b", "exited 0", "closed"]);
  });

  it("that never came are read from the server", async () => {
    const { client, connection } = await connect();
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await starting;
    await connection.output("p", 1, "a");
    await connection.output("p", 4, "d");
    const request = await connection.read(
      [
        [2, "b"],
        [3, "c"],
        [4, "d"],
        [5, "e"],
      ],
      { nextSeq: 7, exited: true, exitCode: 9 },
    );
    expect(request.params).toEqual({ processId: "p", afterSeq: 1, maxBytes: null, waitMs: 0 });
    await recorder.until("exited");
    await connection.exited("p", 6, 9);
    await connection.closed("p", 7);
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["a", "b", "c", "d", "e", "exited 9", "closed"]);
  });

  it("that the server no longer has are reported as a gap", async () => {
    const { client, connection } = await connect();
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await starting;
    await connection.output("p", 9, "i");
    await connection.read(
      [
        [7, "g"],
        [9, "i"],
      ],
      { nextSeq: 10, exited: true, exitCode: 1 },
    );
    const rest = await connection.read([], { nextSeq: 10, exited: true, exitCode: 1 });
    expect(rest.params.afterSeq).toBe(9);
    await connection.closed("p", 10);
    await recorder.until("closed");
    expect(recorder.entries).toEqual(["gap of 6", "g", "exited 1", "i", "closed"]);
  });

  it("fail when the server does not have what it announced", async () => {
    const { client, connection } = await connect();
    const recorder = new Recorder();
    const starting = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await starting;
    await connection.output("p", 3, "c");
    for (let reads = 0; reads < 3; reads += 1) await connection.read([], { nextSeq: 1 });
    await recorder.until("failed");
    expect(recorder.entries).toEqual(["failed invalid_response"]);
  });

  it("of a start that was refused are over, and the id can be used again", async () => {
    const { client, connection } = await connect();
    const starting = client.start({ ...START, processId: "p" }, () => {});
    await connection.refuse(await connection.take("process/start"), -32603, "No such file or directory (os error 2)");
    await expect(starting).rejects.toMatchObject({ name: "RpcError", code: -32603 });
    const recorder = new Recorder();
    const again = client.start({ ...START, processId: "p" }, recorder.take);
    await connection.start();
    await again;
    await expect(client.start({ ...START, processId: "p" }, () => {})).rejects.toMatchObject({
      code: "duplicate_process",
    });
    await connection.exited("p", 1, 0);
    await connection.closed("p", 2);
    await recorder.until("closed");
  });
});
