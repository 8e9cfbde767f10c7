// The managed network of `process/start`, as a real client of Codex 0.169.0 asks for it.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Message, paramsOf, type RawClient, useServer } from "../support.js";

const PROXY = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: "full",
  allowLocalBinding: false,
};
const SANDBOX = {
  permissions: { type: "managed", network: "restricted", file_system: { type: "unrestricted" } },
  windowsSandboxLevel: "disabled",
};

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));

describe("a managed network that cannot be held", () => {
  const server = useServer();

  it.each<[Message, RegExp]>([
    [{ proxy: { ...PROXY, enabled: false } }, /requires an enabled proxy/],
    [{ proxy: { ...PROXY, mode: "weird" } }, /unknown variant `weird`, expected `limited` or `full`/],
    [{ proxy: { ...PROXY, enableSocks5: undefined } }, /missing field `enableSocks5`/],
    [
      { proxy: { ...PROXY, domains: { "pub.example/path": "allow" } } },
      /invalid network proxy config: .*pub\.example\/path/,
    ],
    [{ proxy: { ...PROXY, deniedPorts: [25] } }, /invalid network proxy config: `deniedPorts` is not known/],
    [{ proxy: PROXY, policyDecisionTimeoutMs: 0 }, /callback timeout must be nonzero/],
  ])("is refused: %j", async (networkProxy, reason) => {
    const client = await server.ready();
    const start = { processId: "p", argv: ["true"], cwd: "file:///tmp", env: {}, tty: false, sandbox: SANDBOX };
    const refusal = await client.refusal("process/start", { ...start, enforceManagedNetwork: true, networkProxy });
    expect(refusal).toMatch(/^-32602 /);
    expect(refusal).toMatch(reason);
    const bare = { ...start, sandbox: null, networkProxy: { proxy: PROXY } };
    expect(await client.refusal("process/start", bare)).toMatch(/^-32602 .*without `sandbox`/);
  });
});

describe.runIf(support.kind === "bubblewrap" && ["nsenter", "curl"].every(has))("a managed network", () => {
  const server = useServer();
  const web = createServer((_request, response) => response.end("served\n"));
  let host = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    host = `host.internal:${(web.address() as AddressInfo).port}`;
  });
  afterAll(() => web.close());

  async function run(client: RawClient, processId: string, script: string, proxy: Message, more: Message = {}) {
    await client.start(processId, ["/bin/sh", "-c", script], {
      sandbox: SANDBOX,
      enforceManagedNetwork: true,
      managedNetwork: null,
      networkProxy: {
        proxy: { ...PROXY, ...proxy },
        auditMetadata: null,
        environmentId: "e",
        executionId: "x",
        ...more,
      },
    });
    await client.untilEvent("process/closed", processId);
    return client.outputOf(processId);
  }
  const get = (url: string) => `curl -s -o /dev/null -w '%{http_code} ' http://${url}/`;
  const decisions = (client: RawClient, processId: string) =>
    client.eventsOf(processId).filter(({ method }) => method === "network/policyDecision");

  it("reaches what is allowed, with the variables and without, and tells each decision", async () => {
    const client = await server.ready();
    const script = `${get(host)}; curl -s --noproxy '*' -o /dev/null -w '%{http_code} ' http://${host}/; ${get("other.example")}`;
    expect(await run(client, "p", script, { domains: { [host]: "allow", "x.example": "none" } })).toBe("200 200 403 ");
    expect(decisions(client, "p").map((event) => paramsOf(event))).toMatchObject([
      { decision: "allow", source: "baseline_policy", protocol: "http", host: "host.internal", scope: "domain" },
      { decision: "allow", protocol: "socks5_tcp", host: "host.internal" },
      { decision: "deny", reason: "not_allowed", protocol: "http", host: "other.example", port: 80 },
    ]);
  });

  it("tells of decisions what Codex tells: none about what is no host, and both where the mode forbids", async () => {
    const client = await server.ready();
    const gone = "host.internal:1";
    const script = [
      get(host),
      get(host).replace("curl", "curl -d x"),
      get(gone),
      get("a%b.example"),
      get("x.example").replace("curl", "curl -H 'x-unix-socket: /s'"),
    ].join("; ");
    const output = await run(client, "p", script, { mode: "limited", domains: { [host]: "allow", [gone]: "allow" } });
    expect(output).toMatch(/^200 403 502 (000|400) 501 $/);
    const told = decisions(client, "p").map((event) => {
      const { scope, decision, source, reason } = paramsOf(event) as Record<string, string>;
      return [scope, decision, source, reason].join("/");
    });
    const allowed = "domain/allow/baseline_policy/allow";
    const [forbidden, unsupported] = ["mode_guard/method_not_allowed", "proxy_state/unix_socket_unsupported"].map(
      (each) => `non_domain/deny/${each}`,
    );
    expect(told).toEqual([allowed, allowed, forbidden, allowed, unsupported]);
  });

  it("asks the client about what no rule decides, once for each connection, where that has a time limit", async () => {
    const client = await server.ready();
    const allow = { result: { decision: { type: "allow" } } };
    const answers = [
      allow,
      { result: { decision: { type: "deny", reason: "no" } } },
      { result: "nonsense" },
      { error: { code: -32603, message: "not now" } },
      allow,
    ];
    const asked: unknown[] = [];
    const answering = (async () => {
      for (const answer of answers) {
        const seen = new Set(asked.map((one) => paramsOf(one as Message)));
        const request = await client.until(
          (message) => message.method === "network/policyRequest" && !seen.has(paramsOf(message)),
        );
        asked.push(request);
        client.send({ id: request.id, ...answer });
      }
    })();
    const rules = { domains: { [host]: "allow" }, reviewDomains: [host] };
    const script = answers.map(() => get(host)).join("; ");
    expect(await run(client, "p", script, rules, { policyDecisionTimeoutMs: 30_000 })).toBe("200 403 403 403 200 ");
    await answering;
    expect(asked.map((one) => paramsOf(one as Message))).toEqual(
      Array(5).fill({
        processId: "p",
        request: { protocol: "http", host: "host.internal", port: Number(host.split(":")[1]) },
      }),
    );
    expect(await run(client, "q", get(host), rules)).toBe("403 ");
  });
});
