// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell

import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";

// What a rule that forbids `rm` (and `git push`) makes of each way to write it. What only the sandbox holds is listed as well.

const shellParser = createLazyShellParser();
const rules = createEffectiveRules(
  parseRulePolicy([
    {
      file: "r",
      text: `
prefix_rule(pattern=["rm"], decision="forbidden")
prefix_rule(pattern=["git", "push"], decision="forbidden")
prefix_rule(pattern=[["echo", "ls", "set", "printf", "xargs", "env", "git", "uniq"]])
`,
    },
  ]),
  "/w",
);

/** How it runs: `outside` the sandbox, `inside`, `asked`, or `forbidden`. */
async function judge(script: string, approvalPolicy: "on-request" | "untrusted", shell: string) {
  const command = await analyzeCommand([shell, "-c", script], undefined, shellParser);
  const context = {
    approvalPolicy,
    sandboxPermissions: "use_default",
    unrestricted: false,
    rules,
    os: "linux",
  } as const;
  const found = evaluateRequirement(command, context);
  if (found.kind === "skip") return found.bypassSandbox ? "outside" : "inside";
  return found.kind === "needsApproval" ? "asked" : "forbidden";
}

const FORBIDDEN: Record<string, string[]> = {
  "by another spelling": [
    ...["rm x", "/bin/rm x", "./rm x", "../bin/rm x", "r\\m x", "\\rm x", "'rm' x", '"rm" x', 'r"m" x', 'r""m x'],
    ...["$'rm' x", "$'\\x72m' x", "$'\\162\\155' x", '$"rm" x', "rm\tx", "rm\\\n x", "r\\\nm x", "rm>f x", ">f rm x"],
    ...["~/bin/rm x", "$HOME/rm x", "{rm,x}", "{r,}m x", "2>&1 rm x"],
  ],
  "by an expansion": [
    ...["${x:-rm} x", "${x-rm} x", "${x:=rm} x", "${x:+rm} x"],
    ...["x=rm; $x y", "x=r; ${x}m y"],
    ...["for c in rm; do $c x; done"],
  ],
  "in another place": [
    ...["ls; rm x", "ls && rm x", "ls | rm x", "ls & rm x", "! rm x", "(rm x)", "{ rm x; }", "if true; then rm x; fi"],
    ...["while rm x; do :; done", "case x in *) rm x;; esac", "f() { rm x; }; f", "echo $(rm x)", 'echo "`rm x`"'],
    ...[
      "echo <(rm x)",
      "cat <<EOF\n$(rm x)\nEOF",
      "echo ${x:-$(rm x)}",
      "x=$(rm x)",
      "[[ $(rm x) ]]",
      "trap 'rm x' EXIT",
    ],
    ...["alias ls='rm x'\nls", "coproc rm x", "echo hi &>f rm x"],
  ],
  "behind a wrapper": [
    ...["env rm x", "env -i A=1 rm x", "env -S 'rm x'", "env -iS 'rm x'", "env --split-string='rm x'", "A=1 rm x"],
    ...[
      "command -p rm x",
      "exec -a ls rm x",
      "builtin eval rm x",
      "nohup rm x",
      "timeout -k 1 5 rm x",
      "sudo -u root rm x",
    ],
    ...["sudo -s rm x", "doas rm x", "su - root -c 'rm x'", "nice -n 5 rm x", "ionice -c 3 rm x", "stdbuf -oL rm x"],
    ...["setsid -f rm x", "time -p rm x", "xargs rm < f", "echo rm x | xargs env", "xargs -I{} sh -c 'rm {}' < f"],
    ...["find . -exec rm {} \\;", "find . -exec ls {} \\; -execdir rm {} +", "flock f rm x", "script -c 'rm x' f"],
    ...["ssh h rm x", "busybox rm x", "chroot / rm x", "unshare -r rm x", "strace -o f rm x"],
    ...["npx -c 'rm x'", "sg root 'rm x'"],
  ],
  "in a script of a shell": [
    ...["bash -c 'rm x'", "bash -euxc 'rm x'", "bash -o errexit -c 'rm x'", "sh -c \"sh -c 'rm x'\"", "zsh -c 'rm x'"],
    ...["eval rm x", "bash <<< 'rm x'", "bash <<EOF\nrm x\nEOF", "echo rm x | sh"],
    ...["echo 'rm x' | bash -s", "printf '\\162\\155 x' | sh"],
    ...[". /dev/stdin <<< 'rm x'"],
  ],
  "behind options of git": [...["git -C . push"], ...["git --git-dir=.git push", "git -c a.b=c push", "git -p push"]],
};

/** The words are found, and that they are run is a guess; or a shell runs what only the running script knows. */
const ASKED: readonly string[] = [
  ...[
    "$(echo rm) x",
    "`echo rm` x",
    "$(printf 'r%s' m) x",
    "a=(rm x); ${a[@]}",
    'a=(rm x); "${a[@]}"',
    "a=(ls rm); ${a[1]} x",
    'set -- rm x; "$@"',
    "set -- rm x; $1 $2",
    "printf -v x rm; $x y",
    "setpriv --reuid 0 rm x",
    "prlimit --nofile=1 rm x",
    "setarch x86_64 rm x",
    "at now <<< 'rm x'",
    'eval "$(echo rm x)"',
    "echo cm0geAo= | base64 -d | sh",
    "bash <(echo rm x)",
    "source <(echo rm x)",
    "sh -c '\"$0\" x' rm",
    "sh -c '$1 x' _ rm",
    "git -c alias.x='!rm x' x",
    "git -c alias.p=push p",
    "git -c core.pager='rm x' log",
    "git bisect run rm x",
    "git rebase -x 'rm x' HEAD",
    "git -c url.ext::rm.insteadOf=x: ls-remote x:",
    "git config url.ext::rm.insteadOf x:",
    "git -c mergetool.x.path=rm mergetool",
    "git clone -c core.fsmonitor=rm u",
    "cmake -E env rm x",
    "cmake -E time rm x",
    "git submodule foreach 'rm x'",
    "git difftool --extcmd='rm x'",
    "ssh -o ProxyCommand='rm x' h",
    "scp -S rm a h:b",
    "ssh -oLocalCommand='rm x' h",
    "tar --checkpoint-action=exec='rm x' -cf a b",
    "tar -I 'rm x' -cf a b",
    "tar --to-command 'rm x' -xf a",
    "rsync -e 'rm x' a h:b",
    "make SHELL=/bin/rm",
    "less +'!rm x' f",
    "vim -c ':!rm x'",
    "man -P 'rm x' ls",
    "GIT_SSH_COMMAND='rm x' git fetch",
    "GIT_PAGER='rm x' git log",
    "EDITOR='rm x' git commit",
    "PROMPT_COMMAND='rm x' bash -i",
    "gdb -ex '!rm x'",
    "make --eval='$(shell rm x)'",
    "read x <<< rm; $x y",
    "pip --python rm list",
    "pip3 --python=/bin/rm list",
    "pip config edit --editor rm",
    "uv venv -p rm",
    "gem open -e rm x",
    "npm pkg set scripts.a='rm x'; npm run a",
    "npm config set script-shell rm",
    "npm config set script-shell=/bin/rm",
    "helm template x --post-renderer rm",
    "cloc --vcs=rm",
    "cpio -i --rsh-command=rm -F h:x",
    "gh alias set x '!rm x'",
    "svn ls svn+x://h --config-option config:tunnels:x='rm x'",
    "flatpak run --command=rm x",
    "mypy --python-executable rm f",
    "sed '1e rm x' f",
    "sed 's/x/&/;1erm x' f",
    "x=ls; ${x/ls/rm} y",
    "x=RM; ${x,,} y",
    "x=mr; ${x:1:1}${x:0:1} y",
    "echo 'x mr' | rev | sh",
    "hash -p /bin/rm ls; ls x",
    "x=abrm; ${x##*b} y",
    "x=rm.a; ${x%.*} y",
    "x=xrmx; ${x: 1 : -1} y",
    "x='\\x72m'; ${x@E} y",
  ],
  ...[
    "awk 'BEGIN{system(\"rm x\")}'",
    "python3 -c 'import os; os.system(\"rm x\")'",
    "ed <<< '!rm x'",
    "perl -e 'system \"rm x\"'",
    'node -e \'require("child_process").execSync("rm x")\'',
    "expect -c 'spawn rm x'",
    "emacs --batch --eval '(shell-command \"rm x\")'",
    "vim.tiny -u <(echo '!rm x')",
    "gcc-12 -wrapper rm x.c",
    "CC=rm make",
    "echo 'y: ; rm x' > Makefile; make",
    "fc -s",
  ],
  ...[
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "docker exec c rm x",
    "tmux new 'rm x'",
    "screen -dm rm x",
    "uv run rm x",
    "$(basename /a/rm) x",
    "test -v 'a[$(rm x)]'",
  ],
  ...[
    "cat f | sh",
    "curl u | sh",
    "curl -o f u; sh f",
    "sed -i s/q/r/ f && . ./f",
    "$(cat f) x",
    'eval "$(cat f)"',
    "sed s/q/r/ <<< 'qm x' | bash",
    "read -n2 v <<< rmx; $v x",
  ],
  ...[
    "BASH_ENV=/dev/stdin bash -c : <<< 'rm x'",
    "export BASH_ENV=/dev/fd/3; bash -c : 3<<< 'rm x'",
    "env BASH_ENV=/proc/self/fd/0 bash -c : <<< 'rm x'",
  ],
  ...[
    "sed e <<< 'rm x'",
    "sed -f - f <<< '1e rm x'",
    "echo '1e rm x' > s; sed -n -f s f",
    "sed -e '1e\\' -e 'rm x' f",
    "sed -n '1{s/.*/rm x/;e\n}' f",
  ],
  ...[
    'tsx -e \'require("child_process").execSync("rm x")\'',
    'bun -e \'require("child_process").execSync("rm x")\'',
    "rename 'system(\"rm x\")' f",
    'mongosh --nodb --eval \'require("child_process").execSync("rm x")\'',
    "fossil sql '.shell rm x'",
  ],
  ...["LD_PRELOAD=./x.so ls", "export LD_AUDIT=x; ls", "BASH_ENV=f bash -c ls", "GCONV_PATH=. iconv f"],
  ...["NODE_OPTIONS='--require ./x' node", "NODE_OPTIONS=--import=./x.mjs npm ls", "PYTHONSTARTUP=f python"],
  ...["RUBYOPT=-r./x gem list", "PERL5OPT=-MX perl f", "JAVA_TOOL_OPTIONS=-javaagent:x.jar mvn test"],
  ...[
    "git -c include.path=f x",
    "git -c includeIf.gitdir:/.path=f x",
    "GIT_CONFIG_GLOBAL=f git x",
    "env GIT_CONFIG_SYSTEM=f git x",
  ],
  ...[
    "git --git-dir=d x",
    "GIT_DIR=d git x",
    "git --exec-path=d x",
    "GIT_EXEC_PATH=d git x",
    "git -c core.hooksPath=d commit",
  ],
  ...[
    "git -c protocol.ext.allow=always fetch",
    "git config include.path f",
    "git init --template=d",
    "git clone -c include.path=f u",
  ],
  ...["PIP_CONFIG_FILE=p pip list", "APT_CONFIG=f apt-get update", "WGETRC=f wget u"],
  ...["poetry env use rm", "jj util exec -- rm x", "composer exec rm", "brew sh -c rm", "gh extension exec rm"],
  ...[
    "firebase emulators:exec rm",
    "podman machine ssh rm",
    "heroku local -- rm",
    "aws configure set credential_process rm",
  ],
  ...['npm pkg set --json scripts=\'{"t":"rm x"}\'', "env RUSTC_WRAPPER=rm cargo build", "export CC=rm; make"],
  ...[
    "foo sort --compress-program=rm f",
    "echo '* * * * * rm x' | crontab -",
    "foo --pager rm",
    "cmake -E chdir / rm x",
  ],
  ...["ln -s /bin/rm l; ./l x", "cp /bin/rm l; ./l x", "curl -o f u; chmod +x f; ./f", "wget u/f; chmod +x ./f; ./f"],
  ...["mosh --ssh=rm h", "mosh --client=rm h", "watchexec --shell=rm -- ls", "firejail --shell=rm ls"],
  ...["podman --runtime rm run i", "buildah --runtime=rm run c ls", "busybox sendmail -H 'rm x' a"],
  ...["kubectl create job j --image=i -- rm x", 'kubectl run p --overrides=\'{"command":["rm","x"]}\''],
  ...['kubectl patch d -p \'{"command":["rm","x"]}\'', "az vm create --custom-data '#!/bin/sh\nrm x'"],
  ...["gcloud compute instances create h --metadata=startup-script='rm x'", "docker import --change 'CMD rm x' t i"],
  ...["aws ssm send-command --parameters 'commands=[\"rm x\"]'", 'mkdir \'rm x\'; eval "$(basename "$PWD")"'],
  ...["echo 'x = !rm x' > ~/.aws/cli/alias; aws x"],
  ...["/bin/r* x", "/usr/bin/r? x", "env ./[r]m x", "find . -name 'r?' -exec {} x \\;"],
  ...["npm exec -- rm x", "poetry run rm x", "own-wrapper --flag rm x", "own-wrapper 'rm x'", "kubectl exec p -- rm x"],
];

/** No reading of the words finds these. Nothing in them is allowed by a rule: they are opaque, asked about or in the sandbox. */
const SANDBOX_ONLY: Record<string, string[]> = {
  "a language of its own": [
    ...[
      'awk \'BEGIN{system("r" "m x")}\'',
      'python3 -c \'import os; os.system("r" + "m x")\'',
      'perl -e \'system "r"."m x"\'',
      'node -e \'require("child_process").execSync("r" + "m x")\'',
      "make -f f",
    ],
  ],
  "only known at run time": ["bash f", "ENV=f sh -i"],
  "a computed argument of a program that is no shell": [
    ...["gcc -wrapper $(sed s/q/r/ <<< qm) x.c", "docker run x $(cat f)", "own-wrapper $(cat f)"],
  ],
  "text piped into a program with commands of its own": ["cat f | psql", "psql < f", "sqlite3 db < f"],
  "another program under this name, or this one under another": [
    ...["PATH=.:$PATH ls", "export PATH=.; ls", "enable -f ./x.so ls; ls"],
    ...["RM x"],
  ],
  "run by somebody else": ["echo rm x > Makefile"],
};

const rows = (table: Record<string, string[]>) =>
  Object.entries(table).flatMap(([way, scripts]) => scripts.map((script) => [way, script] as const));

describe("a forbidden command", () => {
  it.each(rows(FORBIDDEN))("%s is forbidden: %j", async (_way, script) => {
    for (const shell of ["/bin/bash", "sh", "/opt/own/zsh"]) {
      expect(await judge(script, "on-request", shell)).toBe("forbidden");
      expect(await judge(script, "untrusted", shell)).toBe("forbidden");
    }
  });

  it.each(rows(SANDBOX_ONLY))("%s is held by the sandbox alone: %j", async (_way, script) => {
    expect(await judge(script, "on-request", "/bin/bash")).toBe("inside");
    expect(await judge(script, "untrusted", "/bin/bash")).toBe("asked");
  });

  it.each(ASKED)(
    "is asked about where it is among the arguments of a program that may run them, or computed: %j",
    async (script) => {
      expect(await judge(script, "on-request", "/bin/bash")).toBe("asked");
      expect(await judge(script, "untrusted", "/bin/bash")).toBe("asked");
    },
  );

  it.each([
    ...[
      "sudo --frobnicate rm x",
      "env --frobnicate ls",
      "nice --frobnicate 5 ls",
      "bash --frobnicate -c ls",
      "strace --frobnicate ls",
    ],
    ...["git --frobnicate log", "xargs --frobnicate ls", "su --frobnicate -c ls", "foosh -c ls", "pwsh -Frobnicate ls"],
  ])("may be hidden behind an option or a shell that is not known: %j", async (script) => {
    const { literals } = await analyzeCommand(["bash", "-c", script], undefined, shellParser);
    expect(literals).toMatchObject({
      complete: false,
      unclear: expect.stringMatching(/not known|language of its own/),
    });
    expect(await judge(script, "on-request", "bash")).toBe("asked");
  });

  it("is not seen where there is none", async () => {
    const scripts = [
      "git log --grep rm",
      "tar -cf rm.tar x",
      "ssh -o User=rm h ls",
      "git -c user.name=rm commit -m rm",
    ];
    for (const script of [...scripts, "vim -c 'set nu' rm", "cat <<'EOF'\n$(rm x)\nEOF", "set -e; ls rm"]) {
      expect(await judge(script, "on-request", "bash"), script).not.toBe("forbidden");
    }
  });

  it("is suspected in a file that another command makes, not in one that a command names for another reason", async () => {
    for (const script of ["docker exec c bash f.sh", "vim -c 'so a/b.vim'", "sed -i s/a/b/ g.sh; bash f.sh"])
      expect(await judge(script, "on-request", "bash"), script).toBe("inside");
    for (const script of ["sed -i s/a/b/ f.sh; bash f.sh", "awk '{print > \"f\"}' g; ./f", "uniq sh f; sh f"])
      expect(await judge(script, "on-request", "bash"), script).toBe("asked");
  });

  it.each(["uniq - f", "uniq -- a -b", "ls &>/dev/null make", "ls\u00a0-l", "ls \\\n -l", "ls $IFS", "=ls"])(
    "is no reason to trust what only looks plain: %j",
    async (script) => {
      const { commands, isSplit } = await analyzeCommand(["sh", "-c", script], undefined, shellParser);
      const plain = createEffectiveRules(parseRulePolicy([]), "/w");
      const context = { approvalPolicy: "untrusted", sandboxPermissions: "use_default", unrestricted: true } as const;
      const found = evaluateRequirement(
        { commands, isSplit, literals: { commands: [], complete: true } },
        { ...context, rules: plain },
      );
      expect(found.kind === "skip" ? commands : "asked").toEqual(script.includes("\\\n") ? [["ls", "-l"]] : "asked");
    },
  );
});

describe("a rule about a name", () => {
  const judgeWith = async (text: string, script: string) => {
    const command = await analyzeCommand(["bash", "-c", script], undefined, shellParser);
    const found = createEffectiveRules(parseRulePolicy([{ file: "r", text }]), "/w");
    return evaluateRequirement(command, {
      approvalPolicy: "untrusted",
      sandboxPermissions: "use_default",
      unrestricted: false,
      rules: found,
    }).kind;
  };
  const FORBIDS = 'prefix_rule(["git", "push"], decision="forbidden")\n';

  it.each([
    ["a place that `host_executable` does not name", 'host_executable("git", ["/usr/bin/git"])\n'],
    ["a path that a rule of its own allows", 'prefix_rule(["/opt/git"])\nprefix_rule(["/bin/git"])\n'],
  ])("forbids it at %s", async (_what, more) => {
    for (const program of ["git", "/bin/git", "/opt/git", "./git", "/usr/bin/../bin/git", "//bin//git"]) {
      expect(await judgeWith(FORBIDS + more, `${program} push`), program).toBe("forbidden");
    }
  });

  it("allows it at no place that only looks like one of the system", async () => {
    const text = 'prefix_rule(["git"])\nhost_executable("git", ["/usr/bin/git"])\n';
    expect(await judgeWith(text, "git log")).toBe("skip");
    expect(await judgeWith(text, "/usr/bin/git log")).toBe("skip");
    const programs = [
      "./git",
      "/tmp/git",
      "/usr/bin/../../tmp/git",
      "/usr/bin/./git",
      "usr/bin/git",
      "/USR/BIN/git",
      "GIT",
    ];
    for (const program of [...programs, "git.exe", "gi\u0307t", "ｇｉｔ", "git\u200b", "/usr/bin/git/"]) {
      expect(await judgeWith(text, `${program} log`), program).toBe("needsApproval");
    }
  });
});
