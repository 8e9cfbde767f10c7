import { describe, expect, it } from "vitest";
import { exec, inTurn, outputOf } from "./calls.js";
import type { ClientOptions } from "./client.js";
import { CODEX_BINARY, SERVER_ENV, serverCommand, useRealClient } from "./support.js";

const toml = (server: string) => `default = "box"\ninclude_local = false\n[[environments]]\nid = "box"\n${server}\n`;

describe.skipIf(CODEX_BINARY === undefined)("how the real client finds the server (needs CODEX_BINARY)", () => {
  const client = useRealClient();
  const ways: Record<string, () => Partial<ClientOptions>> = {
    CODEX_EXEC_SERVER_URL: () => ({ url: client.url }),
    "environments.toml with an address": () => ({
      url: undefined,
      files: { "environments.toml": toml(`url = "${client.url}"`) },
    }),
    "environments.toml with a program": () => {
      const [program, ...args] = serverCommand("--listen", "stdio").map((word) => JSON.stringify(word));
      const env = `{ STARTED_BY = "${SERVER_ENV.STARTED_BY}" }`;
      const server = `program = ${program}\nargs = [${args.join(", ")}]\nenv = ${env}`;
      return { url: undefined, files: { "environments.toml": toml(server) } };
    },
  };

  it.each(Object.entries(ways))("%s", async (_, how) => {
    const results: string[] = [];
    await client.run(inTurn([exec("echo started by $STARTED_BY")], results), how());
    expect(outputOf(results[0]!)).toBe("started by the-exec-server\n");
  });
});
