import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node-pty";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "../support.js";

const RULES = `prefix_rule(pattern=["git", ["push", "pull"]], decision="prompt", justification="net é")
prefix_rule(pattern=["git", "status"], decision="allow")
prefix_rule(pattern=["curl"], decision="forbidden", justification="no downloads")
host_executable(name="git", paths=["/usr/bin/git"])
`;

let home: string;
let file: string;
let broken: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "codex-home-"));
  await mkdir(join(home, "rules"));
  file = join(home, "team.rules");
  broken = join(home, "broken.rules");
  await writeFile(file, RULES);
  await writeFile(broken, 'prefix_rule(pattern=["make"], decision="never")\n');
});
afterAll(() => rm(home, { recursive: true, force: true }));

const command = useCommand();

async function run(...args: string[]) {
  const child = command.start(args, { CODEX_HOME: home });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
}

// What Codex 0.169.0 prints for these rules, byte for byte.
describe("codex execpolicy check", () => {
  const prompt = '{"matchedPrefix":["git","push"],"decision":"prompt","justification":"net é"}';

  it("prints the matches and the strictest decision on one line", async () => {
    const stdout = `{"matchedRules":[{"prefixRuleMatch":${prompt}}],"decision":"prompt"}\n`;
    expect(await run("execpolicy", "check", "--rules", file, "git", "push", "--pretty")).toEqual({
      code: 0,
      stdout,
      stderr: "",
    });
  });

  it("leaves the decision out when nothing matches, and indents when asked to", async () => {
    const { stdout } = await run("execpolicy", "check", "-r", file, "--pretty", "--", "ls");
    expect(stdout).toBe('{\n  "matchedRules": []\n}\n');
  });

  it("reads every file, and resolves a path when asked to", async () => {
    const args = ["-r", file, "-r", file, "--resolve-host-executables", "/usr/bin/git", "push"];
    const match = prompt.replace('"prompt",', '"prompt","resolvedProgram":"/usr/bin/git",');
    const twice = `{"prefixRuleMatch":${match}},{"prefixRuleMatch":${match}}`;
    expect((await run("execpolicy", "check", ...args)).stdout).toBe(
      `{"matchedRules":[${twice}],"decision":"prompt"}\n`,
    );
    expect((await run("execpolicy", "check", "-r", file, "/usr/bin/git", "push")).stdout).toBe('{"matchedRules":[]}\n');
  });

  it("ends with 1 for a file that does not load, with its name, line and what to do", async () => {
    const { code, stdout, stderr } = await run("execpolicy", "check", "-r", file, "-r", broken, "ls");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      `Error: failed to parse policy at ${broken}\n\nCaused by:\n    ` +
        `${broken}:1:1: "never" is not a decision. Use one of allow, prompt, forbidden.\n`,
    );
  });

  it("ends with 1 for a file that cannot be read, and with 2 without files or a command", async () => {
    const missing = join(home, "missing.rules");
    const { code, stderr } = await run("execpolicy", "check", "-r", missing, "ls");
    expect(code).toBe(1);
    expect(stderr).toMatch(`Error: failed to read policy at ${missing}\n\nCaused by:\n    `);
    expect((await run("execpolicy", "check", "ls")).code).toBe(2);
    expect((await run("execpolicy", "check", "-r", file)).code).toBe(2);
  });
});

describe("codex execpolicy explain", () => {
  it("shows split, matches, requirement and why", async () => {
    const { code, stdout } = await run("execpolicy", "explain", "--rules", file, "--", "cd src && git push");
    expect(code).toBe(0);
    expect(stdout).toBe(`command      /bin/bash -lc 'cd src && git push'
split        2 plain commands
  cd src
    allowed    no rule matches, and approval policy \`on-request\` does not ask
  git push
    rule       prompt: ["git", "push"] (${file}:1)
    asked      rule ["git", "push"] (${file}:1) asks before this command: net é
requirement  needs approval
why          rule ["git", "push"] (${file}:1) asks before this command: net é
`);
  });

  it("shows what is spelled out inside an opaque script, and what a person could save", async () => {
    const opaque = await run("execpolicy", "explain", "--rules", file, "env X=1 curl x > y");
    expect(opaque.stdout).toMatch(
      /split {8}no: it counts as one command\n[\s\S]*inside[\s\S]*\n {2}curl x\n[\s\S]*\nrequirement {2}forbidden\n/,
    );
    const plain = await run("execpolicy", "explain", "--approval-policy", "untrusted", "ls && make 'a b'");
    expect(plain.stdout).toMatch(/\n {2}ls\n {4}allowed {4}it is known to be safe\n/);
    expect(plain.stdout).toContain(
      '\nrule to save prefix_rule(pattern=["make", "a b"], decision="allow", whole=True, sandbox="keep")\n',
    );
    const dangerous = await run("execpolicy", "explain", "rm", "-rf", "/");
    expect(dangerous.stdout).toContain('decision="allow", whole=True, sandbox="keep")\n');
  });

  it("takes several words as an argv, and prints JSON", async () => {
    const { stdout } = await run("execpolicy", "explain", "--json", "--rules", file, "--", "git", "status", "-s");
    expect(JSON.parse(stdout)).toMatchObject({
      argv: ["git", "status", "-s"],
      approvalPolicy: "on-request",
      isSplit: false,
      commands: [{ words: ["git", "status", "-s"], matches: [{ decision: "allow" }], requirement: "skip" }],
      inside: [],
      requirement: { kind: "skip", bypassSandbox: true },
      brokenRules: [],
    });
  });

  it("shows rules for hosts, and says whether they are held", async () => {
    const hosts = join(home, "hosts.rules");
    const rule = (host: string) => `network_rule(host="${host}", protocol="https", decision="forbidden")\n`;
    await writeFile(hosts, rule("evil.example") + rule("other.example"));
    const { stdout } = await run("execpolicy", "explain", "-r", hosts, "true && curl https://EVIL.example:8443/x");
    expect(stdout).toContain(`
network      2 rules for hosts, checked but not enforced: access is on or off without \`features.network_proxy\`
    forbidden  https://evil.example (${hosts}:1), named in the command
`);
    const limited = await run("execpolicy", "explain", "-r", hosts, "-c", "features.network_proxy=true", "true");
    expect(limited.stdout).toContain("network      2 rules for hosts, held where a command connects\n");
  });

  it("goes on with rules that do not load: says so, and asks for what they may have restricted", async () => {
    const { code, stdout, stderr } = await run("execpolicy", "explain", "--rules", broken, "make all");
    expect(code).toBe(0);
    expect(stderr).toContain(`rules are broken: ${broken}:1:1: `);
    expect(stdout).toContain("requirement  needs approval");
  });
});

describe("codex tools call", () => {
  it("is refused by a rule, with its name, place and reason", async () => {
    const call = ["tools", "call", "exec_command", '{"cmd":"echo hi; curl x"}', "--rules", file];
    const { code, stdout } = await run(...call);
    expect(code).toBe(1);
    expect(stdout).toContain(`rule ["curl"] (${file}:3) forbids this command: no downloads`);
  });

  it("offers to allow and save, saves the rule, and does not ask again", async () => {
    const saved = join(home, "rules", "default.rules");
    const flags = ["--approval-policy", "untrusted", "--sandbox", "danger-full-access"];
    const args = [codex, "tools", "call", ...flags, "exec_command", '{"cmd":"printf hi"}'];
    const call = () => {
      let output = "";
      const child = spawn(process.execPath, args, { cols: 400, env: { ...process.env, CODEX_HOME: home } });
      const asked = new Promise<void>((resolve) => {
        child.onData((data) => {
          output += data;
          if (output.includes("[q]uit: ")) resolve();
        });
      });
      const ended = new Promise<string>((resolve) => child.onExit(() => resolve(output)));
      return { child, asked, ended };
    };
    const first = call();
    await first.asked;
    first.child.write("a\r");
    const shown = await first.ended;
    expect(shown).toContain('rule to save prefix_rule(pattern=["printf", "hi"], decision="allow")');
    expect(shown).toContain(`saved to     ${saved}`);
    expect(shown).toMatch(/\[a\]llow and save the rule[\s\S]*Output:\r\nhi/);
    expect(await readFile(saved, "utf8")).toBe('prefix_rule(pattern=["printf", "hi"], decision="allow")\n');
    const second = await call().ended;
    expect(second).not.toContain("Run it?");
    expect(second).toMatch(/Output:\r\nhi/);
  });
});
