import { chmodSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { codex } from "../support.js";
import { exec, inTurn, outputOf } from "./calls.js";
import { type ClientOptions, runCodexClient } from "./client.js";
import { CODEX_BINARY, SERVER_ENV, serverCommand, useRealClient } from "./support.js";

const toml = (server: string) => `default = "box"\ninclude_local = false\n[[environments]]\nid = "box"\n${server}\n`;

/** An `environments.toml` with an address and a program, the former being the default. */
const bothKinds = (url: string) => {
  const [program, ...args] = serverCommand("--listen", "stdio").map((word) => JSON.stringify(word));
  const env = `{ STARTED_BY = "the-program" }`;
  const command = `[[environments]]\nid = "tool"\nprogram = ${program}\nargs = [${args.join(", ")}]\nenv = ${env}`;
  return `${toml(`url = "${url}"\nconnect_timeout_sec = 20`)}${command}\ninitialize_timeout_sec = 20\n`;
};

describe("one environments.toml", () => {
  const client = useRealClient();
  const run = async (binary: string) => {
    const results: string[] = [];
    const script = inTurn(
      [exec("echo started by $STARTED_BY"), exec("echo started by $STARTED_BY", { environment_id: "tool" })],
      results,
    );
    const files = { "environments.toml": bothKinds(client.url) };
    await runCodexClient(binary, script, { cwd: client.directory, sandbox: "danger-full-access", files });
    return results.map(outputOf);
  };
  const expected = ["started by the-exec-server\n", "started by the-program\n"];

  it("drives this client", async () => {
    const binary = `${client.directory}/codex`;
    client.write("codex", `#!/bin/sh\nexec '${process.execPath}' '${codex}' "$@"\n`);
    chmodSync(binary, 0o755);
    expect(await run(binary)).toEqual(expected);
  });

  it.skipIf(CODEX_BINARY === undefined)("drives the real client (needs CODEX_BINARY)", async () => {
    expect(await run(CODEX_BINARY!)).toEqual(expected);
  });
});

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
