import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it } from "vitest";
import { codexServer, observe, ownServer, type ServerCommand } from "./observe.js";

const binary = process.env.CODEX_BINARY;
const { kind, problem } = await createCommandSandbox().getSupport();
const reason = binary === undefined ? "needs CODEX_BINARY" : problem;

const PROFILE = `
[features]
network_proxy = true
[permissions.net.filesystem]
":root" = "read"
":workspace_roots" = { "." = "write" }
[permissions.net.network]
enabled = true
[permissions.net.network.domains]
"127.0.0.1" = "allow"
`;

/** What accepts a connection and closes it is a bad gateway to the client of a proxy. */
const REACHED = "0: 502";
const status = (url: string) => `curl -s -m 20 --noproxy '' -o /dev/null -w '%{http_code}' ${url}`;

describe.skipIf(reason !== undefined)(`the real Codex client with a managed network (${reason ?? kind})`, () => {
  const run = (server: ServerCommand) =>
    observe(
      binary!,
      server,
      [
        ({ port }) => status(`http://127.0.0.1:${port}/`),
        ({ port }) => status(`http://127.0.0.2:${port}/`),
        () => status("http://other.example/"),
        ({ port }) => `curl -s -m 5 --noproxy '*' http://127.0.0.1:${port}/; echo $?`,
        () => "true",
      ],
      { sandbox: undefined, config: { keys: 'default_permissions = "net"', tables: PROFILE } },
    );
  const TOLD = [REACHED, "0: 403", "0: 403", "0: 7", "0: "];

  it("reaches what its profile allows, on our exec-server", async () => {
    expect(await run(ownServer)).toEqual(TOLD);
  });

  it("sees the same on that of Codex", async () => {
    expect(await run(codexServer(binary!))).toEqual(TOLD);
  });
});
