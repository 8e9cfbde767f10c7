import { describe, expect, it } from "vitest";
import { findPrefixBan, parseRulePolicy, proposeAmendment } from "../../../src/policy/rules/index.js";

describe("findPrefixBan", () => {
  it.each(
    [
      ...["python", "python3", "python3.12 -", "python -c", "python3 -m", "/usr/bin/python3 -c", "py", "pypy3", "node"],
      ...[
        "node -e",
        "node --eval",
        "nodejs -p",
        "deno run",
        "deno eval",
        "bun run",
        "perl -e",
        "perl",
        "ruby -e",
        "php -r",
      ],
      ...[
        "lua -e",
        "osascript",
        "osascript -e",
        "awk",
        "bash",
        "bash -c",
        "bash -lc",
        "/bin/bash -lc",
        "sh -c",
        "zsh -lc",
      ],
      ...[
        "bash --norc -i",
        "pwsh -Command",
        "powershell.exe -c",
        "cmd /c",
        "env",
        "env -i",
        "env A=1",
        "sudo",
        "sudo -u root",
      ],
      ...[
        "sudo bash",
        "sudo bash -c",
        "sudo python3",
        "env A=1 bash -c",
        "time",
        "nice -n 5",
        "nohup",
        "timeout 5",
        "xargs",
      ],
      ...[
        "xargs -n1",
        "xargs sh -c",
        "eval",
        "eval ls",
        "watch ls",
        "ssh host",
        "ssh host ls",
        "command",
        "exec",
        "find",
      ],
      ...[
        "find .",
        "busybox",
        "busybox sh",
        "git",
        "git -C dir",
        "git -c a=b",
        "/usr/bin/git",
        "sudo git",
        "source",
        ".",
      ],
      ...["trap x EXIT", "alias", "su", "su bob", "su -c ls"],
    ].map((line) => line.split(" ")),
  )("bans %j", (...prefix) => expect(findPrefixBan(prefix)).toBeTypeOf("string"));

  it.each(
    [
      ...[
        "ls",
        "npm",
        "npm test",
        "git push",
        "git status -s",
        "python script.py",
        "python3 -m pytest",
        "bash build.sh",
      ],
      ...[
        "bash -c ls",
        "node server.js",
        "sudo ls",
        "sudo -u root systemctl restart",
        "env A=1 make",
        "timeout 5 npm test",
      ],
      ...[
        "xargs grep",
        "make",
        "cargo build",
        "gitk",
        "pythonista",
        "docker build",
        "find . -exec ls {} ;",
        "time make",
      ],
      ...["deno run main.ts", "sudo git push"],
    ].map((line) => line.split(" ")),
  )("allows %j", (...prefix) => expect(findPrefixBan(prefix)).toBeUndefined());

  it("bans what is empty", () => {
    expect([findPrefixBan([]), findPrefixBan([""])]).toEqual(["the prefix is empty", "the prefix is empty"]);
  });
});

describe("proposeAmendment", () => {
  const policy = parseRulePolicy([
    { file: "a.rules", text: 'prefix_rule(["ls"])\nprefix_rule(["npm", "publish"], decision="prompt")\n' },
  ]);
  const test = ["npm", "test"];

  it("takes what the model suggests when it allows every command", () => {
    const commands = [test, ["npm", "run", "x"], ["ls"]];
    expect(proposeAmendment({ policy, commands, suggested: ["npm"], asking: test })).toEqual(["npm"]);
  });

  it.each([
    ["does not cover a command", [test, ["make"]], ["npm"]],
    ["does not match at all", [test], ["yarn"]],
    ["is banned", [["python3", "x.py"]], ["python3"]],
    ["is empty", [test], []],
    ["is weaker than a rule that asks", [["npm", "publish"], test], ["npm"]],
  ])("takes the command that asks when the suggestion %s", (_name, commands, suggested) => {
    const [asking = []] = commands.filter((command) => command[1] !== "publish");
    expect(proposeAmendment({ policy, commands, suggested, asking })).toEqual(asking);
  });

  it("takes the command that asks when nothing is suggested", () => {
    expect(proposeAmendment({ policy, commands: [["ls"], test], asking: test })).toEqual(test);
  });

  it.each([
    ["nothing asks", [test], undefined],
    ["a rule asks", [["npm", "publish"]], ["npm", "publish"]],
    ["the command leaves open what runs", [["sudo"]], ["sudo"]],
    ["nothing is to be amended", [], test],
  ])("proposes nothing when %s", (_name, commands, asking) => {
    expect(proposeAmendment({ policy, commands, asking })).toBeUndefined();
  });

  it("proposes nothing that a broken file may forbid", () => {
    const broken = parseRulePolicy([{ file: "a.rules", text: 'prefix_rule(["npm"], decision="deny")' }]);
    expect(proposeAmendment({ policy: broken, commands: [test], suggested: ["npm"], asking: test })).toBeUndefined();
  });
});
