import { describe, expect, it } from "vitest";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { ScriptedServer, useClients } from "../scripted-server.js";

const INFO = { shell: { name: "zsh", path: "/bin/zsh" }, cwd: "/srv" };

describe("the description of a host", () => {
  const own = useClients();

  async function connect(environmentInfo: unknown) {
    const server = new ScriptedServer();
    const connecting = own(ExecServerClient.connect(server));
    const connection = await server.accept();
    await connection.shakeHands("session", { environmentInfo });
    return { connection, client: await connecting };
  }

  it("is that of the handshake, without a request", async () => {
    const { client } = await connect(INFO);
    expect(await client.environment.describe()).toMatchObject(INFO);
  });

  it.each([[undefined], [null], [{}]])("is requested where the handshake has %j", async (given) => {
    const { client, connection } = await connect(given);
    const describing = client.environment.describe();
    await connection.respond(await connection.take("environment/info"), INFO);
    expect(await describing).toMatchObject(INFO);
  });
});
