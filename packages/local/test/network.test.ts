// Commands whose sandbox opens the network reach what the policy allows, and nothing else.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createAuditLog, createFileSink } from "@codex/audit";
import type { ApprovalDecision, ApprovalRequest, OrchestratorEvent } from "@codex/orchestrator";
import {
  createRuleSaver,
  createSandboxSelector,
  type NetworkOptions,
  type PolicyOptions,
  parseRulePolicy,
} from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startRegistry } from "../../testkit/test/network/registry.js";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "../src/index.js";

const support = await createCommandSandbox().getSupport();
const has = (name: string) => ["/usr/bin", "/bin"].some((directory) => existsSync(join(directory, name)));
const isPossible = support.kind === "bubblewrap" && ["nsenter", "curl"].every(has);

describe.runIf(isPossible)("a command with a managed network", () => {
  const web = createServer((request, response) => response.end(`${request.method} ${request.headers.host}\n`));
  let url = "";
  let pattern = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    pattern = `host.internal:${(web.address() as AddressInfo).port}`;
    url = `http://${pattern}/`;
  });
  afterAll(() => web.close());

  async function open(
    network: NetworkOptions,
    rules = "",
    { saveRule, ...more }: Partial<LocalOrchestratorOptions> & Pick<PolicyOptions, "saveRule"> = {},
    approvalPolicy: "never" | "on-request" = "never",
  ) {
    const cwd = realpathSync(mkdtempSync(join(tmpdir(), "codex-reach-")));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const orchestrator = await createLocalOrchestrator({
      policy: {
        approvalPolicy,
        sandbox: createSandboxSelector({ mode: "workspace-write", networkAccess: true }),
        rules: parseRulePolicy([{ file: "default.rules", text: rules }]),
        network,
        ...(saveRule === undefined ? {} : { saveRule }),
      },
      defaults: { login: false, cwd },
      ...more,
    });
    onTestFinished(() => orchestrator.close());
    const call = (args: object) => orchestrator.callTool("exec_command", { shell: "/bin/sh", workdir: cwd, ...args });
    /** Does not wait for the end. */
    const start = (cmd: string) => call({ cmd, yield_time_ms: 250 });
    return Object.assign((cmd: string) => call({ cmd }), { orchestrator, cwd, start });
  }

  async function finished(result: Promise<Awaited<ReturnType<Awaited<ReturnType<typeof open>>>>>) {
    const ended = await result;
    if (ended.isError) throw new Error(ended.text);
    return ended;
  }

  it("reaches what is allowed, and its result tells what else it tried, once", async () => {
    const run = await open({ rules: [{ pattern, decision: "allow" }] });
    const { text, structured } = await finished(
      run(`curl -sS ${url}; for i in 1 2; do curl -sS -o x http://other.example/; done`),
    );
    expect(text).toContain(`GET ${pattern}`);
    expect(text).toContain("Network: other.example:80 denied 2 times (no rule allows it)");
    expect(structured?.deniedHosts).toMatchObject([{ host: "other.example", port: 80, count: 2 }]);
    expect((await finished(run(`curl -sS ${url}`))).structured?.deniedHosts).toBeUndefined();
  });

  it("follows the rules for hosts, of which the strictest decides", async () => {
    const rules = 'network_rule(host="other.example", protocol="http", decision="deny")';
    const run = await open({ rules: [{ pattern: "**.example", decision: "allow", source: "config.toml:4" }] }, rules);
    const { text } = await run("curl -sS -o x http://other.example/");
    expect(text).toContain("Network: other.example:80 denied (rule other.example (default.rules:1))");
  });

  it.runIf(has("npm") || existsSync(join(dirname(process.execPath), "npm")))(
    "that installs a package has its registry asked about once, and never again once a rule is saved",
    async () => {
      await startRegistry();
      const home = mkdtempSync(join(tmpdir(), "codex-rules-"));
      onTestFinished(() => rmSync(home, { recursive: true, force: true }));
      const asked: ApprovalRequest[] = [];
      const approver = {
        async requestApproval(request: ApprovalRequest): Promise<ApprovalDecision> {
          asked.push(request);
          return request.cause.kind === "host" ? "accept_and_save" : "accept";
        },
      };
      const rules = join(home, "default.rules");
      const saveRule = createRuleSaver(rules);
      const run = await open({ allowUpstreamProxy: true }, "", { approver, saveRule }, "on-request");
      const install =
        "npm install --no-audit --no-fund --no-update-notifier --registry=http://registry.example/ --cache=$PWD/cache";
      for (const again of [1, 2]) {
        const { text, structured } = await finished(run(`rm -rf node_modules cache; ${install} tiny`));
        expect(structured, text).toMatchObject({ exitCode: 0 });
        expect(existsSync(join(run.cwd, "node_modules/tiny/package.json"))).toBe(true);
        expect(
          asked.filter(({ cause }) => cause.kind === "host"),
          `run ${again}`,
        ).toHaveLength(1);
      }
      expect(readFileSync(rules, "utf8")).toContain('network_rule(host="registry.example"');
    },
  );

  it("has what it reaches and does not recorded, shown and counted, also in the background", async () => {
    const directory = mkdtempSync(join(tmpdir(), "codex-reach-audit-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const file = join(directory, "audit.jsonl");
    const log = createAuditLog({ sink: createFileSink(file) });
    const run = await open({ rules: [{ pattern, decision: "allow" }] }, "", { audit: { log } });
    const shown: OrchestratorEvent[] = [];
    run.orchestrator.observe((event) => shown.push(event));
    const other = "curl -s -o /dev/null http://other.example/";
    const { structured } = await run.start(
      `curl -s ${url}; ${other}; while [ ! -e go ]; do sleep 0.05; done; curl -s ${url}; ${other}`,
    );
    expect(structured).toMatchObject({ outcome: { kind: "running" } });
    writeFileSync(join(run.cwd, "go"), "");
    const records = () =>
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .filter(({ type }) => type === "host");
    const sum = (decision: string, name: "count" | "ended" | "received") =>
      records().reduce((all, record) => all + (record.decision === decision ? record[name] : 0), 0);
    const counted = () => [sum("allow", "count"), sum("allow", "ended"), sum("deny", "count")];
    await expect.poll(counted, { timeout: 10_000 }).toEqual([2, 2, 2]);
    expect(sum("allow", "received")).toBeGreaterThan(2 * "GET".length);
    const [allowed, denied] = ["allow", "deny"].map((decision) => records().find((each) => each.decision === decision));
    expect(allowed).toMatchObject({ host: "host.internal", protocol: "http", by: "policy", rule: pattern });
    expect(denied).toMatchObject({ host: "other.example", port: 80, by: "policy", reason: "not_allowed" });
    const seen = shown.flatMap((event) => (event.type === "hosts" ? event.hosts : []));
    expect(seen.reduce((all, { count }) => all + count, 0)).toBe(4);
  });

  it("has a host that no rule decides about asked about, where the policy asks, and goes on with the answer", async () => {
    const asked: ApprovalRequest[] = [];
    const answers: ApprovalDecision[] = ["accept", "decline", "accept_for_session"];
    const approver = {
      async requestApproval(request: ApprovalRequest) {
        asked.push(request);
        return answers.shift() ?? "cancel";
      },
    };
    const rules = [
      { pattern, decision: "allow" as const },
      { pattern, decision: "ask" as const },
    ];
    const run = await open({ rules }, "", { approver }, "on-request");
    const get = `curl -s -o /dev/null -w '%{http_code} ' ${url}`;
    expect((await run(`${get}; ${get}`)).text).toContain("200 200");
    expect(asked).toMatchObject([
      {
        reason: `the running command wants to reach ${pattern} (plain HTTP), which no rule allows`,
        cause: { kind: "host", host: "host.internal" },
        command: ["/bin/sh", "-c", `${get}; ${get}`],
        sandbox: { permissions: { network: "restricted" } },
        availableDecisions: ["accept", "accept_for_session", "decline", "cancel"],
      },
    ]);
    const declined = await run(get);
    expect(declined.text).toContain(`Network: ${pattern} denied (declined)`);
    expect(declined.text).toContain("403");
    for (let again = 0; again < 2; again += 1) expect((await run(get)).text).toContain("200");
    expect(asked).toHaveLength(3);
  });

  it("ends with its turn where the person ends that", async () => {
    const approver = { requestApproval: async () => "cancel" as const };
    const rules = [
      { pattern, decision: "allow" as const },
      { pattern, decision: "ask" as const },
    ];
    const run = await open({ rules }, "", { approver }, "on-request");
    const { text } = await run(`curl -s ${url}; echo went on`);
    expect(text).toContain("it was ended when a host that it wanted to reach was asked about");
    expect(text).not.toContain("went on\n");
  });

  it("does not run where the executor may not open the network", async () => {
    const executor = { ceiling: { mode: "workspace-write", network: false } } as const;
    const run = await open({ rules: [{ pattern, decision: "allow" }] }, "", { executor });
    const { status, text } = await run("echo ran");
    expect(status).not.toBe("success");
    expect(text).toMatch(/network/);
  });
});
