import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { DANGEROUS_COMMANDS, findDangerousEntry } from "../src/dangerous.js";

const shellParser = createLazyShellParser();
const literals = async (argv: readonly string[]) => (await analyzeCommand(argv, undefined, shellParser)).literals;
const isFound = async (argv: readonly string[]): Promise<boolean> =>
  (await literals(argv)).commands.some((words) => findDangerousEntry(words));
const inScript = (script: string) => isFound(["bash", "-lc", script]);

describe("dangerous commands", () => {
  it("is this table", () => expect(DANGEROUS_COMMANDS.map((entry) => entry.name)).toEqual(["rm-force"]));

  it.each([
    "rm -f x",
    "rm -rf x",
    "rm -fr x",
    "rm x -f",
    "rm -r --force x",
    "rm --forc x",
    "/bin/rm -Rf x",
    "sudo rm -rf x",
    "sudo -u root -n rm -f x",
    "doas rm -f x",
    "env A=1 rm -rf x",
    "nice -n 5 rm -f x",
    "time -p rm -f x",
    "timeout 5 rm -f x",
    "xargs -0 rm -f",
    "find . -exec rm -f {} +",
    "A=1 rm -rf x",
    "ls; rm -rf x",
    "ls && rm -rf x",
    "ls || rm -rf x",
    "ls | xargs rm -rf",
    "ls\nrm -rf x",
    "sleep 1 & rm -rf x",
    "(cd /; rm -rf x)",
    "{ rm -rf x; }",
    "if true; then rm -rf x; fi",
    "for f in *; do rm -rf $f; done",
    "while true; do rm -rf x; done",
    "f() { rm -rf x; }; f",
    "case a in a) rm -rf x;; esac",
    "! rm -rf x",
    "echo $(rm -rf x)",
    'echo "$(rm -rf x)"',
    "echo `rm -rf x`",
    "cat <(rm -rf x)",
    'bash -c "rm -rf x"',
    "sudo bash -lc 'ls; rm -rf x'",
    "bash -c \"sh -c 'rm -rf x'\"",
    'eval "rm -rf x"',
    "eval rm -rf x",
    "trap 'rm -rf x' EXIT",
    "echo 'rm -rf x' | sh",
    "echo rm -rf x | bash",
    "sh <<< 'rm -rf x'",
    "bash <<EOF\nrm -rf x\nEOF",
    "rm >log -rf x",
    "rm &>log -rf x",
    "rm -r\\\n -f x",
    "\\rm -rf x",
    "r''m -rf x",
    '"rm" "-rf" x',
    "$'rm' -rf x",
    "$'\\x72m' -rf x",
    ["rm", "-rf", "x"].join("$\u007bIFS}"),
    "rm$IFS-rf$IFS/x",
    "{rm,-rf,x}",
    "busybox rm -rf x",
    "command rm -f x",
    "ssh host rm -rf x",
    "ssh host 'rm -rf x'",
    "env -S 'rm -rf x'",
  ])("%j", async (script) => expect(await inScript(script)).toBe(true));

  it.each([
    "rm x",
    "rm -r x",
    "rm -- -f",
    "rm -i file",
    "git rm -f x",
    "echo rm -rf x",
    'git commit -m "rm -rf is gone"',
    "grep -rf patterns .",
    "ls -f",
    "cat rm -f",
  ])("not %j", async (script) => expect(await inScript(script)).toBe(false));

  it("is seen in an argv without a shell", async () => {
    expect(await isFound(["env", "bash", "-c", "rm -rf x"])).toBe(true);
  });

  it("is not said to be absent from a script that is too large to be read", async () => {
    const lines = Array.from({ length: 100_000 }, (_, line) => `echo ${line}`);
    expect((await literals(["bash", "-lc", lines.join("\n")])).complete).toBe(false);
  });

  it.each(["'", '"', "$'", "`", "$(", "<", ">", "\\", "", "   ", "{,}", "$'\\x", "a=(", "<(", "\u0000"])(
    "reads the unfinished %j without failing",
    async (script) => {
      expect((await literals(["bash", "-lc", script])).commands[0]).toEqual(["bash", "-lc", script]);
    },
  );
});
