// What policy costs before a command is sent: script → commands → requirement under a hundred rules → sandbox.
import {
  analyzeCommand,
  createEffectiveRules,
  createLazyShellParser,
  createSandboxSelector,
  evaluateRequirement,
  parseRulePolicy,
} from "@codex/policy";
import { interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 2000;

const HEREDOC = `cat > notes.txt <<'EOF'\n${"a line of text that is written\n".repeat(40)}EOF`;
const SCRIPTS = {
  "one command": "git status --short",
  "a pipeline": "cd src && rg -n 'TODO|FIXME' --glob '*.ts' | head -50",
  "five commands": "cd app && npm ci && npm run build && npm test -- --run; git diff --stat",
  "opaque: expansion and redirection": 'for f in *.log; do grep -c ERROR "$f" >> counts.txt; done',
  "opaque: a here-document of 1.2 kB": HEREDOC,
  "forbidden inside wrappers": "sudo env A=1 bash -c 'cd /x && xargs rm -rf < list'",
};

export async function run() {
  const rules = parseRulePolicy([{ file: "bench.rules", text: renderRules() }]);
  const parser = createLazyShellParser();
  await parser();
  const host = {
    os: "linux",
    arch: "x64",
    shell: { name: "bash", path: "/bin/bash" },
    cwd: "/srv/app",
    home: "/home/user",
    user: "user",
  };
  const selector = createSandboxSelector({ mode: "workspace-write" });
  const decide = async (script) => {
    const command = await analyzeCommand(["/bin/bash", "-lc", script], host, parser);
    const needed = evaluateRequirement(command, {
      approvalPolicy: "on-request",
      sandboxPermissions: "use_default",
      unrestricted: false,
      rules: createEffectiveRules(rules, "/srv/app"),
      os: "linux",
    });
    selector.select({
      environment: "main",
      host,
      cwd: "/srv/app",
      workspaceRoots: ["/srv/app"],
      sandboxPermissions: "use_default",
      additionalPermissions: null,
      bypassSandbox: needed.kind === "skip" && needed.bypassSandbox,
    });
  };
  const subjects = Object.fromEntries(Object.entries(SCRIPTS).map(([name, script]) => [name, () => decide(script)]));
  await interleave(subjects, 300);
  const times = await interleave(subjects, ROUNDS);
  const rows = Object.entries(times).map(([name, values]) => ({
    name,
    "median ms": +median(values).toFixed(3),
  }));
  printTable(`a decision, 100 rules, ${ROUNDS} rounds (goal: 1 ms at the median)`, rows);
}

function renderRules() {
  const rules = Array.from(
    { length: 97 },
    (_, index) => `prefix_rule(pattern=["tool${index}", ["run", "test"], "--all"], decision="allow")`,
  );
  return [
    ...rules,
    'prefix_rule(pattern=["git", "status"], decision="allow")',
    'prefix_rule(pattern=["npm", "publish"], decision="forbidden", justification="by hand only")',
    'prefix_rule(pattern=["git", "push"], decision="prompt")',
  ].join("\n");
}
