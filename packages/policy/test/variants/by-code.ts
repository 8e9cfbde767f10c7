// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell

import { bash, shell, type Variant } from "./variant.js";

const options = (needs: string, scripts: readonly string[]): Variant[] =>
  bash("in code that an option names", scripts, needs);

const named = [
  ...options("vim.basic", [
    "vim.basic -es -c '!zap x' -c q < /dev/null",
    "vim.basic -es -u <(echo '!zap x') -c q < /dev/null",
    "vim.basic -es -S <(echo 'call system(\"zap x\")') -c q < /dev/null",
    "vim.basic -es +'sil !zap x' +q < /dev/null",
  ]),
  ...options("vim.tiny", ["vim.tiny -es -c '!zap x' -c q < /dev/null", "printf '!zap x\\nq\\n' | vim.tiny -es"]),
  ...options("ex", ["ex -s <<< '!zap x'", "printf '!zap x\\nq!\\n' | ex -s"]),
  ...options("ed", ["ed -s <<< '!zap x'", "printf '!zap x\\nq\\n' > s; ed -s < s"]),
  ...options("gcc", ["echo > y.c; gcc -wrapper zap,x -c y.c; true", "echo > y.c; gcc -c y.c -wrapper ZAP; true"]),
  ...options("x86_64-linux-gnu-gcc", ["echo > y.c; x86_64-linux-gnu-gcc -wrapper zap -c y.c; true"]),
  ...options("make", [
    "printf 'q:\\n\\tzap x\\n' | make -sf /dev/stdin q",
    "make q -f /dev/stdin <<< 'q:; zap x'",
    "echo 'q:; $(CC) x' > m; CC=zap make -f m q",
    "echo 'q:; $(LEX) x' > m; make LEX=zap -f m q",
    "echo 'q:; $(FOO)' > m; export FOO='zap x'; make -f m q",
    "echo 'q:; zap x' > Makefile; make",
    "echo 'q:; zap x' > GNUmakefile; make -s q",
  ]),
  ...options("tmux", [
    "tmux -L z$$ -f <(echo \"run-shell 'zap x'\") new -d 'sleep 1'; sleep 1; tmux -L z$$ kill-server; true",
    "tmux -L z$$ new -d 'sleep 1' \\; if-shell 'zap x' ''; sleep 1; tmux -L z$$ kill-server; true",
  ]),
  ...options("awk", [
    "awk 'BEGIN{system(\"zap x\")}'",
    "awk 'BEGIN{\"zap x\"|getline}'",
    "awk -f <(echo 'BEGIN{system(\"zap x\")}')",
  ]),
  ...options("mawk", ["mawk 'BEGIN{print 1 | \"zap x\"}'"]),
  ...options("sed", [
    "sed '1e zap x' /etc/hosts",
    "sed -n '1s/.*/zap x/e' /etc/hosts",
    "sed -e '1{e zap x' -e '}' /etc/hosts",
  ]),
  ...options("python3", [
    "python3 -c 'import os; os.system(\"zap x\")'",
    "python3 - <<'E'\nimport subprocess\nsubprocess.run(['zap', 'x'])\nE",
    "echo 'import os; os.system(\"zap x\")' | python3",
    "sed s/q/a/ <<< 'import os; os.system(\"zqp x\")' | python3",
    "printf 'import os\\nos.system(\"zap x\")\\n' > s.py; python3 s.py",
  ]),
  ...options("python3.11", ["python3.11 -c 'import os; os.popen(\"zap x\").read()'"]),
  ...options("perl", [
    "perl -e 'system \"zap x\"'",
    "perl -e 'exec qw(zap x)'",
    "perl -e 'print `zap x`'",
    "perl -e 'qx/zap x/'",
  ]),
  ...options("node", [
    'node -e \'require("child_process").execSync("zap x")\'',
    'node <<< \'require("child_process").execSync("zap x")\'',
  ]),
  ...options("tclsh", ["tclsh <<< 'exec zap x'", "echo 'exec zap x' > s; tclsh s"]),
  ...options("sqlite3", ["sqlite3 :memory: <<< '.shell zap x'"]),
  ...options("gdb", ["echo 'shell zap x' > g; gdb -batch -x g"]),
  ...options("cmake", ["echo 'execute_process(COMMAND zap x)' > s.cmake; cmake -P s.cmake"]),
  ...options("ninja", ["printf 'rule r\\n command = zap x\\nbuild q: r\\n' > build.ninja; ninja q; true"]),
  ...options("sdiff", ["sdiff --diff-program=ZAP /etc/hosts /etc/passwd; true"]),
  ...options("less", ["script -qc \"LESSOPEN='|zap %s' less -F /etc/hosts\" /dev/null"]),
];

const files = bash("in a file that it writes", [
  "printf '[alias]\\ny = !zap x\\n' > ~/.gitconfig; git y",
  "git init -q; printf '#!/bin/sh\\nzap x\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git -c user.name=a -c user.email=a commit -q --allow-empty -m x",
  "git init -q; tee -a .git/config <<< $'[alias]\\ny = \"!zap x\"' > /dev/null; git y",
  "echo 'zap x' > ~/.bashrc; bash -i -c true",
  "echo 'ZAP x' > ~/.profile; bash -l -c true",
  "cp /dev/stdin f <<< 'zap x'; bash ?",
  "install -m 755 /dev/stdin f <<< $'#!/bin/sh\\nzap x'; ./f*",
  "mkdir d; printf '#!/bin/sh\\nzap x\\n' > d/a; chmod +x d/a; run-parts d",
  "dd of=s.py <<< 'import os; os.system(\"zap x\")' 2> /dev/null; python3 s.py",
  "cat > s.pl <<'E'\nsystem(\"zap x\");\nE\nperl s.pl",
  "echo '!zap x' > ~/.vimrc; vim.basic -es -u ~/.vimrc -c q < /dev/null",
  "echo 'zap x' > f; eval \"$(< f)\"",
  "echo 'zap x' > f; eval \"$(cat f)\"",
  "echo 'zap x' > f; mapfile -t a < f; ${a[0]}",
  "echo 'zap x' > f; xargs -a f env",
  "echo 'zap x' > f; bash -c \"$(head -1 f)\"",
]);

const scripts = bash(
  "in a file that it writes",
  [
    'echo \'{"scripts":{"t":"zap x"}}\' > package.json; npm run -s t',
    'echo \'{"scripts":{"pretest":"zap x","test":"true"}}\' > package.json; npm -s test',
    "echo '{}' > package.json; npm -s exec --script-shell=ZAP -c x; true",
  ],
  "npm",
);

const descriptors = bash("in what a shell reads from a descriptor", [
  "bash 9<<< 'zap x' 0<&9",
  "bash 3<<< 'zap x' <&3",
  "exec 5<<< 'zap x'; bash <&5",
  "bash 4< <(echo zap x) 0<&4",
  "{ bash <&7; } 7<<< 'zap x'",
  "history -s 'zap x'; fc -s",
]);

const dialects = [
  ...shell("in another shell", "zsh", [
    "touch f; : f(e:'zap x':)",
    "touch f; : *(e:zap:)",
    "touch f; : f(+zap)",
    "touch f; : *(N+zap)",
    "functions[y]='zap x'; y",
    "aliases[y]='zap x'; eval y",
    "commands[y]=ZAP; y x",
  ]),
  ...shell("in another shell", "fish", [
    "complete -c foo -a '(zap x)'; complete -C 'foo '",
    "complete -c foo -n 'zap x' -a y; complete -C 'foo '",
    "function f --on-event e; zap x; end; emit e",
  ]),
];

const later: readonly Variant[] = [
  ...bash("by an attribute, a pattern or another path", [
    "declare -l c=zAp; $c x",
    "declare -u c; declare -l d; d=zAP; $d x",
    "v=a; : ${v#$(zap x)}",
    "v=a; : ${v^^$(zap x)}",
    "sh //dev/stdin <<< 'zap x'",
    "sh /dev/./stdin <<< 'zap x'",
    "xargs --arg-file=<(echo zap) -n1 env",
  ]),
  ...shell("by arrays of zsh", "zsh", ["functions+=(q zap); q", "aliases=(q zap); eval q"]),
];

export const BY_CODE: readonly Variant[] = [...named, ...files, ...scripts, ...descriptors, ...dialects, ...later];
