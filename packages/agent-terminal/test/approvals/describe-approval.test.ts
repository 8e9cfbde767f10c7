import type { ApprovalRequest } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { describeRequest } from "../../src/approvals/describe-approval.js";

const REQUEST: ApprovalRequest = {
  id: "1",
  toolName: "exec_command",
  environment: "main",
  command: ["/bin/bash", "-lc", "make all"],
  plainCommands: [["make", "all"]],
  cwd: "/srv/a",
  tty: false,
  reason: "because",
  cause: { kind: "policy" },
  justification: null,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  sandbox: null,
  afterDenial: null,
  proposedAmendment: null,
  availableDecisions: ["accept", "decline"],
};
const describeWith = (part: Partial<ApprovalRequest>) =>
  describeRequest({ ...REQUEST, ...part }, "/h/rules", (text) => `<${text}>`);

it("shows what runs, where, why, and in which sandbox", () => {
  expect(describeWith({})).toBe(
    [
      "",
      "  command      </bin/bash -lc 'make all'>",
      "  directory    /srv/a",
      "  environment  main",
      "  sandbox      none: it may write everywhere and use the network",
      "  reason       because",
      "",
    ].join("\n"),
  );
});

it("shows each extra permission", () => {
  const file_system = { read: ["/etc/x"], write: ["/opt/\u001by"] };
  const shown = describeWith({ additionalPermissions: { file_system, network: { enabled: true } } });
  expect(shown).toContain(
    "  asks for     reading /etc/x\n  asks for     writing /opt/\\u001by\n  asks for     the network\n",
  );
});

it.each([
  [true, 1, "in its sandbox, in part, until the sandbox refused something (exit code 1)"],
  [false, undefined, "in its sandbox, in part, and failed, perhaps because of the sandbox"],
])("shows that it ran already: certain %s, exit code %s", (certain, exitCode, expected) => {
  const shown = describeWith({ afterDenial: { certain, reason: "x", exitCode } });
  expect(shown).toContain(`  already ran  ${expected}; what it did is done, and would be done again\n`);
});

it("shows the rule only where it can be saved", () => {
  const part = { proposedAmendment: ["make"] };
  expect(describeWith(part)).not.toContain("rule to save");
  const shown = describeWith({ ...part, availableDecisions: ["accept_and_save"] });
  expect(shown).toContain(
    '  rule to save prefix_rule(pattern=["make"], decision="allow", whole=True)\n  saved to     /h/whole/rules\n',
  );
});

describe.each(["command", "justification", "reason", "cwd"] as const)("a hostile %s", (member) => {
  const show = (text: string, width?: number) => {
    const part = member === "command" ? { command: ["bash", "-c", text] } : { [member]: text };
    return describeRequest({ ...REQUEST, justification: "x", ...part }, "/h/whole/rules", (shown) => shown, { width });
  };

  it("does not look like a line of the question", () => {
    const forged = "x\n  sandbox      writes nothing\n\nRun it? [y]es: y\r\n  reason       none";
    for (const line of show(forged).split("\n").slice(1, -1)) {
      expect(line).toMatch(/^ {2}(command|directory|environment|sandbox|reason|the model) |^ {13}\| /);
    }
    // Nor where the terminal folds it.
    const folded = show(`${"x".repeat(65)}  sandbox      writes nothing${" ".repeat(300)}${"宽".repeat(80)}`, 80);
    for (const line of folded.split("\n").slice(1, -1)) {
      expect(line).toMatch(/^ {2}(command|directory|environment|sandbox|reason|the model) |^ {13}\| /);
      expect([...line].reduce((sum, character) => sum + (character > "~" ? 2 : 1), 0)).toBeLessThanOrEqual(80);
    }
  });

  it.each([
    ["\u001b[2J", "\\u001b[2J"],
    ["\u202etxt.exe", "\\u202etxt.exe"],
    ["\u2066a\u2069", "\\u2066a\\u2069"],
    ["\u061ca", "\\u061ca"],
    ["r\u200bm", "r\\u200bm"],
    ["r\u00adm", "r\\u00adm"],
    ["a\u00a0b\u3000c", "a\\u00a0b\\u3000c"],
    ["a\u2028b", "a\\u2028b"],
    ["\ufeffa\u3164b\u2800", "\\ufeffa\\u3164b\\u2800"],
    ["r\u{1d159}m", "r\\u{1d159}m"],
    ["r\u{13441}m\u{13442}", "r\\u{13441}m\\u{13442}"],
    ["r\u{16fe4}m\ufffcx", "r\\u{16fe4}m\\ufffcx"],
    ["r\u2d7fm\u1039x\u17d2y\u1a60z", "r\\u2d7fm\\u1039x\\u17d2y\\u1a60z"],
    ["r\u0378m\u{1ffff}", "r\\u0378m\\u{1ffff}"],
    ["r\u034fm\u115f\u1160\u17b4\u180e\uffa0", "r\\u034fm\\u115f\\u1160\\u17b4\\u180e\\uffa0"],
    ["r\u2000m\u205f\u1680\u2007", "r\\u2000m\\u205f\\u1680\\u2007"],
    ["r\ufe0fm\u{e0100}\ue000", "r\\ufe0fm\\u{e0100}\\ue000"],
    ["\u{e0072}\u{e006d}", "\\u{e0072}\\u{e006d}"],
    ["\u009b2J", "\\u009b2J"],
    ["a\rb\bc\u007f", "a\\u000db\\u0008c\\u007f"],
    ["e\u0301", "e\u0301"],
    [`e${"\u0301".repeat(6)}`, `e${"\u0301".repeat(4)}\\u0301\\u0301`],
  ])("hides nothing: %j", (text, shown) => expect(show(text)).toContain(shown));
});

it("shows a command in full, and shortens the other fields", () => {
  const text = "long ".repeat(100_000);
  expect(describeWith({ command: ["bash", "-c", text] }).length).toBeGreaterThan(text.length);
  const told = describeWith({ justification: text, reason: text });
  expect(told.length).toBeLessThan(3_000);
  expect(told).toContain("… (499000 more characters)");
});

describe("a question at a small terminal", () => {
  const lines = (count: number, name: string) => Array.from({ length: count }, (_value, at) => `${name} ${at + 1}`);
  const many = lines(3_000, "echo line").join("\n");
  const paths = lines(400, "/srv/path").map((path) => path.replaceAll(" ", "-"));
  const REQUESTS: [string, Partial<ApprovalRequest>][] = [
    ["a command of 3,000 lines", { command: ["bash", "-c", many] }],
    ["a command of one long line", { command: ["bash", "-c", `echo first; ${"x ".repeat(50_000)}; echo last`] }],
    ["a command of empty lines", { command: ["bash", "-c", `echo first${"\n".repeat(500)}echo last`] }],
    [
      "everything long",
      {
        command: ["bash", "-c", many],
        cwd: `/${"d".repeat(3_000)}`,
        reason: many,
        justification: many,
        additionalPermissions: { file_system: { read: paths, write: paths }, network: { enabled: true } },
        afterDenial: { certain: true, reason: "x", exitCode: 1 },
        proposedAmendment: ["echo", "y".repeat(4_000)],
        availableDecisions: ["accept_and_save"],
      },
    ],
  ];

  it.each(REQUESTS)("is seen from its beginning to its end: %s", (_name, part) => {
    for (const rows of [24, 40, 100]) {
      const size = { width: 80, rows };
      const shown = describeRequest({ ...REQUEST, ...part }, "/h/rules", (text) => text, size).split("\n");
      // Two rows are left for the choices.
      expect(shown.length).toBeLessThanOrEqual(rows - 2);
      expect(shown[1]).toMatch(/^ {2}command {6}bash -c 'echo (?:line 1|first)/);
      expect(shown.join("\n")).toMatch(/\n {13}… [\d,]+ more lines here: \[v\]iew shows all of it\n/);
      for (const label of ["directory", "environment", "sandbox", "reason"])
        expect(shown.some((line) => line.startsWith(`  ${label}`))).toBe(true);
      for (const line of shown) expect(line.length).toBeLessThanOrEqual(80);
    }
  });

  it("shows the end of a long command as well, and says how much is left out", () => {
    const size = { width: 80, rows: 24 };
    const shown = describeRequest({ ...REQUEST, command: ["bash", "-c", many] }, "/h/rules", (text) => text, size);
    expect(shown).toContain("| echo line 3000'");
    const seen = shown.split("\n").filter((line) => line.includes("echo line")).length;
    expect(shown).toContain(`… ${3_000 - seen} more lines here`);
  });

  it("is not forged by what it shows", () => {
    const forged = "x\n             … 9 more lines here: [v]iew shows all of it\n  reason       fine";
    const shown = describeRequest({ ...REQUEST, command: ["bash", "-c", forged] }, "/h/rules", (text) => text, {
      rows: 24,
    });
    expect(shown).toContain("             |              … 9 more lines here");
  });
});
