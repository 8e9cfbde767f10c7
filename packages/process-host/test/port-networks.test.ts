// Networks of one process each, as on macOS: a port of this host's loopback, where the proxy is.
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SessionNetworks } from "../src/network/session-networks.js";

const web = createServer((_request, response) => response.end("served"));
let target = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  target = `host.internal:${(web.address() as AddressInfo).port}`;
});
afterAll(() => web.close());

/** The first line of what the proxy of these variables answers. */
const ask = ({ HTTP_PROXY = "" }: Readonly<Record<string, string>>, host: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(HTTP_PROXY);
    const socket = connect(Number(port), hostname, () => socket.write(`GET http://${host}/ HTTP/1.1\r\n\r\n`));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.once("data", (bytes) => {
      resolve(bytes.toString().split("\r\n")[0] ?? "");
      socket.destroy();
    });
  });

describe("processes without namespaces", () => {
  it("have a proxy each, which tells each what it was denied, and is gone with it", async () => {
    const networks = new SessionNetworks(createCommandSandbox({ platform: "darwin" }), {});
    const rules = [{ pattern: target, decision: "allow" as const }];
    const spec = { scope: "s", policy: { rules, mode: "full" as const, allowLocalBinding: false } };
    const [one, other] = await Promise.all([networks.join(spec), networks.join(spec)]);
    expect(one.variables.HTTP_PROXY).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(one.variables.HTTP_PROXY).not.toBe(other.variables.HTTP_PROXY);
    expect(await ask(one.variables, target)).toBe("HTTP/1.1 200 OK");
    expect(await ask(one.variables, "other.example")).toBe("HTTP/1.1 403 Forbidden");
    expect(one.getState(false).denied).toMatchObject([{ host: "other.example", count: 1 }]);
    expect(other.getState(false).denied).toEqual([]);
    one.leave();
    expect(await ask(one.variables, target)).toBe("ECONNREFUSED");
    expect(await ask(other.variables, target)).toBe("HTTP/1.1 200 OK");
    other.leave();
    await networks.close();
  });

  it("have no routes with secrets, which every program of this host could use", async () => {
    const networks = new SessionNetworks(createCommandSandbox({ platform: "darwin" }), {});
    const routes = [{ name: "x", url: "https://x.example", secret: { kind: "variable" as const, name: "X" } }];
    const spec = { scope: "s", policy: { rules: [], mode: "full" as const, allowLocalBinding: false }, routes };
    await expect(networks.join(spec)).rejects.toThrow(/routes with secrets need a namespace/);
  });
});
