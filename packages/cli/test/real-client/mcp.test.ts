import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startMcpHttpServer } from "./mcp-http.js";
import { CODEX_BINARY, useRealClient } from "./support.js";
import { openWiretap } from "./wiretap.js";

const stdioServer = fileURLToPath(new URL("programs/mcp-stdio.mjs", import.meta.url));

/** Calls of the tools that the test's server has, where the client puts them. */
const call = (name: string, args: object = {}) => ({ name, namespace: "mcp__tiny", args });
const count = Array.from({ length: 100_000 }, (_, index) => index).join(" ");

describe.skipIf(CODEX_BINARY === undefined)("MCP servers of the real client (needs CODEX_BINARY)", () => {
  const client = useRealClient();

  it("runs one on stdio where the exec-server is", async () => {
    const results: string[] = [];
    const tables = `[mcp_servers.tiny]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(stdioServer)}]
environment_id = "remote"
cwd = ${JSON.stringify(client.directory)}
`; // Without a directory the client starts none in an environment.
    const [first] = await client.run(
      (function* () {
        results.push(yield call("whoami"));
        results.push(yield call("count", { to: 100_000 }));
      })(),
      { config: { tables } },
    );
    expect(first).toContain("Names who started this server.");
    expect(results[0]).toContain("started by the-exec-server");
    expect(results[1]).toContain(count);
  });

  it("reaches one on HTTP from where the exec-server is, and passes bodies on as they come", async () => {
    const server = await startMcpHttpServer();
    client.onEnd(() => server.close());
    const wiretap = await openWiretap(client.url);
    client.onEnd(() => wiretap.close());
    const results: string[] = [];
    const tables = `[mcp_servers.tiny]
url = "${server.url}"
http_headers = { Authorization = "Bearer of-the-test" }
environment_id = "remote"
`;
    const [first] = await client.run(
      (function* () {
        results.push(yield call("whoami"));
        results.push(yield call("count", { to: 100_000 }));
      })(),
      { config: { tables }, url: wiretap.url },
    );
    expect(first).toContain("Names who started this server.");
    expect(results[0]).toContain("started by ");
    expect(results[1]).toContain(count);
    const sent = wiretap.passed.filter(({ method }) => method === "http/request");
    expect(sent.length).toBe(server.requests.length);
    expect(new Set(server.requests.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer of-the-test"]));
    expect(server.requests.at(-1)).toMatchObject({ method: "DELETE", session: "session-of-the-test" });
  });
});
