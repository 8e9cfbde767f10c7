// The network of processes that a remote backend starts: on a server of this project, and on Codex where `CODEX_BINARY` names it.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { ExecBackend, HostDecision, HostQuestions, NetworkSpec } from "@codex/exec-backend";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import type { CapabilityName } from "@codex/exec-server-protocol";
import type { HostQuestion } from "@codex/executor-protocol";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { outputOf } from "../../../process-host/test/support.js";
import { CODEX_BINARY, startCodexServer } from "./codex-server.js";
import { connectorTo, startOwnServer } from "./own-server.js";

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));
const isPossible = support.kind === "bubblewrap" && ["nsenter", "curl"].every(has);

/** A server of this project that says that it can hold networks, or not. */
async function openOwn(capabilities: readonly CapabilityName[]) {
  const { server, close } = await startOwnServer(capabilities);
  const client = await ExecServerClient.connect(connectorTo(server));
  return { client, close: () => client.close().then(close) };
}

async function openCodex() {
  const { url, close } = await startCodexServer();
  const client = await ExecServerClient.connectWebSocket(url);
  return { client, close: () => client.close().then(close) };
}

const SERVERS = {
  "a server of this project": {
    isThere: isPossible,
    open: () => openOwn(["networkProxyLaunch", "networkProxyReviewDomains"]),
  },
  Codex: { isThere: isPossible && CODEX_BINARY !== "", open: openCodex },
};

const run = async (backend: ExecBackend, script: string, network: NetworkSpec) => {
  const entries = [{ path: { type: "path" as const, path: "/" }, access: "read" as const }];
  const process = await backend.start({
    argv: ["/bin/bash", "-c", script],
    cwd: "/usr",
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    stdio: { kind: "pipe", stdin: "null" },
    sandbox: { permissions: { type: "managed", network: "restricted", file_system: { type: "restricted", entries } } },
    network,
  });
  return { output: await outputOf(process), denied: process.network?.denied };
};

/** An address of the host's loopback, allowed as it is: no name server is needed. */
const ADDRESS = "127.0.0.1";
const policy = (...rules: NetworkSpec["policy"]["rules"]): NetworkSpec["policy"] => ({
  rules,
  mode: "full",
  allowLocalBinding: false,
});
const ALLOWED = { pattern: ADDRESS, decision: "allow" } as const;
const REVIEWED = policy(ALLOWED, { pattern: ADDRESS, decision: "ask" });

describe.each(Object.entries(SERVERS))("the network of a process on %s", (_, { isThere, open }) => {
  const web = createServer((_request, response) => response.end("served"));
  let port = 0;
  let opened: Awaited<ReturnType<typeof openCodex>> | undefined;
  beforeAll(async () => {
    if (!isThere) return;
    await new Promise<void>((resolve) => web.listen(0, ADDRESS, resolve));
    port = (web.address() as AddressInfo).port;
    opened = await open();
  });
  afterAll(async () => {
    web.close();
    await opened?.close();
  });
  const useBackend = () => {
    const backend = createRemoteBackend(opened!.client);
    onTestFinished(() => backend.close());
    return backend;
  };
  const get = (at = `${ADDRESS}:${port}`) => `curl -s --noproxy '' -w ' %{http_code} ' http://${at}/; `;
  const answering = (answers: Awaited<ReturnType<HostQuestions["ask"]>>[]) => {
    const asked: HostQuestion[] = [];
    const ask: HostQuestions["ask"] = async (question) => {
      asked.push(question);
      return answers.shift() ?? "declined";
    };
    return { asked, questions: { timeoutMs: 10_000, ask } };
  };

  it.runIf(isThere)("is what the policy allows, and tells what else was tried", async () => {
    const decisions: HostDecision[] = [];
    const network = {
      scope: "s",
      policy: policy(ALLOWED, { pattern: "*.evil.example", decision: "deny" }),
      onDecision: (decision: HostDecision) => decisions.push(decision),
    };
    const script = `${get()}${["a.evil.example", "other.example"].map((host) => `curl -s -o /dev/null -w '%{http_code} ' http://${host}/; `).join("")}`;
    const { output, denied } = await run(useBackend(), script, network);
    expect(output).toBe("served 200 403 403 ");
    expect(denied).toEqual([
      { host: "a.evil.example", port: 80, protocol: "http", reason: "denied", count: 1 },
      { host: "other.example", port: 80, protocol: "http", reason: "not_allowed", count: 1 },
    ]);
    expect(decisions.map(({ host, decision }) => [host, decision])).toEqual([
      [ADDRESS, "allow"],
      ["a.evil.example", "deny"],
      ["other.example", "deny"],
    ]);
  });

  it.runIf(isThere)("has a host asked about once for a process, and once for all of them", async () => {
    const backend = useBackend();
    const { asked, questions } = answering(["allow", "declined", "allow_for_session"]);
    const network = { scope: "s", policy: REVIEWED, questions };
    expect((await run(backend, get() + get(), network)).output).toBe("served 200 served 200 ");
    expect(asked).toEqual([{ host: ADDRESS, port, protocol: "http" }]);
    const declined = await run(backend, get() + get(), network);
    expect(declined.output.match(/403/g)).toHaveLength(2);
    expect(declined.denied).toMatchObject([{ host: ADDRESS, port, answer: "declined" }]);
    expect((await run(backend, get(), network)).output).toBe("served 200 ");
    expect((await run(backend, get(), network)).output).toBe("served 200 ");
    expect(asked).toHaveLength(3);
  });

  it.runIf(isThere)("denies what nobody answers about, and what nobody can be asked about", async () => {
    const backend = useBackend();
    const unasked = { scope: "s", policy: REVIEWED };
    expect((await run(backend, get(), unasked)).output).toContain("403");
    const never: HostQuestions["ask"] = (_question, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const { output, denied } = await run(backend, get(), { ...unasked, questions: { timeoutMs: 500, ask: never } });
    expect(output).toContain("403");
    expect(denied).toMatchObject([{ host: ADDRESS, answer: "unanswered" }]);
  });
});

describe.runIf(isPossible)("a network that an exec-server cannot hold is refused, and nothing is started", () => {
  it("where the server does not say that it can", async () => {
    const { client, close } = await openOwn([]);
    onTestFinished(close);
    const started = run(createRemoteBackend(client), "true", { scope: "s", policy: policy(ALLOWED) });
    await expect(started).rejects.toThrow(/does not say that it can hold the network of a command/);
    const { client: half, close: closeHalf } = await openOwn(["networkProxyLaunch"]);
    onTestFinished(closeHalf);
    const asking = run(createRemoteBackend(half), "true", { scope: "s", policy: REVIEWED });
    await expect(asking).rejects.toThrow(/does not say that it asks about hosts/);
  });

  it.runIf(CODEX_BINARY !== "")("where Codex would leave out its ports, or knows no block of addresses", async () => {
    const { client, close } = await openCodex();
    onTestFinished(close);
    const backend = createRemoteBackend(client);
    for (const pattern of ["pub.example:443", "10.0.0.0/8"]) {
      const rules = policy({ pattern, decision: "allow", source: "config.toml:3" });
      await expect(run(backend, "true", { scope: "s", policy: rules })).rejects.toThrow(
        `holds neither ports nor blocks of addresses, as in "${pattern}" (config.toml:3)`,
      );
    }
  });
});
