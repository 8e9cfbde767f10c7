// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell

import { bash, shell, type Variant } from "./variant.js";

const computed: readonly Variant[] = [
  ...bash("by an expansion of several steps", [
    "c=abczapdef; c=${c##abc}; c=${c%%def}; $c x",
    "c=1zap; c=${c#1}2; c=${c%2}; c=$c; $c x",
    "c=xxzap; while [ ${#c} -gt 3 ]; do c=${c#x}; done; $c x",
    "for c in za{p,q}; { $c x; break; }",
    "for c in {z..z}ap; do $c x; done",
    "eval {z..z}{a..a}{p..p} x",
    "eval 'z'{a..b}'p x;'",
  ]),
  ...shell("by a modifier", "zsh", [
    "x=xap; ${x:s/x/z/} x",
    "x=zaq; ${x:gs/q/p/} x",
    "x=xap; $x:s/x/z/ x",
    'x=xap; "$x:s/x/z/" x',
    "x=xap; eval $x:s/x/z/ x",
  ]),
  ...shell("by syntax of zsh", "zsh", [
    "() { . $1 } <(echo zap x)",
    "() { eval $1 } 'zap x'",
    "{ false } always { zap x }",
    "while { true } { zap x; break }",
    "if [[ 1 ]] zap x",
    "touch ZAP; ZAP(:a) x",
    "touch f; : f(Ne_zap_)",
    "touch f; : f(NeQzapQ)",
    "a=(1); : $a['y[$(zap x)1]']",
    "coproc sh; print -p zap x; sleep 0.3",
    "y=(1); integer i='y[$(zap x)1]'",
    "y=(1); float f; f='y[$(zap x)1]'",
    "y=(1); shift 'y[$(zap x)1]'",
    "y=(1); return 'y[$(zap x)1]'",
    "y=(1); exit 'y[$(zap x)1]'",
    "zshexit_functions=(q); functions[q]='zap x'",
    "functions+=(zshexit 'zap x')",
  ]),
];

const made: readonly Variant[] = [
  ...bash("by a file that a program makes", [
    "sed -n 'w f' <<< 'zap x'; sh f",
    "sed 's/a/a/w f' <<< 'zap x'; . ./f",
    "sed -n 'wf.sh' <<< 'zap x'; sh *.sh",
    "sed -n 'w f' <<< 'zap x'; chmod +x f; ./f",
    "sort -of <<< 'zap x'; sh f",
    "echo zap x | gzip > f.gz; gunzip f.gz; sh f",
    "awk '{print > \"f\"}' <<< 'zap x'; sh f",
    "split -b 100 - f <<< 'zap x'; sh faa",
    "split -b 100 <<< 'zap x'; sh ./xaa",
    "csplit -s - 1 <<< 'zap x'; sh xx01",
    "csplit -s -f y - 1 <<< 'zap x'; sh y01",
  ]),
  ...bash(
    "by a file that a program makes",
    ["curl -sO file://ZAP; sh ./zap", "curl -s --remote-name file://ZAP; sh zap"],
    "curl",
  ),
  ...bash(
    "by a file that a program makes",
    ["echo 'execute_process(COMMAND zap x)' > CMakeLists.txt; cmake ."],
    "cmake",
  ),
  ...shell("by a file that a program makes", "zsh", ["zmodload zsh/mapfile; mapfile[f]='zap x'; sh f"]),
];

const read: readonly Variant[] = [
  ...bash("by a descriptor or a directory of devices", [
    "exec {n}<<< 'zap x'; . /dev/fd/$n",
    "exec 7<<< 'zap x'; sh /dev/fd/7",
    "cd /dev; sh stdin <<< 'zap x'",
    "exec <<< 'zap x'; cd /dev/fd; sh ./0",
    "exec <<< 'zap x'; cd /proc/$$; sh fd/0",
    "cd /; sh dev/stdin <<< 'zap x'",
  ]),
  ...bash("by text that is decoded", [
    "echo zap x | base64 | base64 -d | sh",
    "echo zap x | base64 -w0 | base64 -d | sh",
  ]),
  ...bash("by an argument of code", [
    "awk 'BEGIN{system(ARGV[1])}' zap",
    "awk 'BEGIN{while (ARGV[1] | getline);}' zap",
  ]),
  ...bash("by an argument of code", ["perl -e 'system shift' zap", "perl -e 'exec @ARGV' zap x"], "perl"),
  ...bash(
    "by an argument of code",
    ["python3 -c 'import os,sys; os.system(sys.argv[1])' zap", 'python3 -c \'exec("import os;os.system(\\"zap\\")")\''],
    "python3",
  ),
  ...bash("by an option in a variable", ["LESSOPEN='|-zap %s' less /etc/hosts | cat"], "less"),
  ...bash(
    "by an option of several letters",
    ["start-stop-daemon -Sx'ZAP'", "start-stop-daemon -S --exec=ZAP"],
    "start-stop-daemon",
  ),
  ...bash("by an operand that may be absent", ["setarch --uname-2.6 ZAP"], "setarch"),
];

const COMPUTED = "mkdir p; sed s/q/z/ <<< 'qap x' > p/s; chmod +x p/s; ";
const PATCH = "diff --git a/s b/s\nnew file mode 100755\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+zap x\n";

const moved: readonly Variant[] = [
  ...bash("by a file that a here-document with more on its line makes", [
    "cat <<E > s\nzap x\nE\nsh s",
    "cat <<'E' >> s; . ./s\nzap x\nE",
    "cat <<E 2>/dev/null >s\nzap x\nE\nchmod +x s; ./s",
    "cat <<A <<B > s\nno\nA\nzap x\nB\nsh s",
    "sed s/q/z/ <<E > s\nqap x\nE\nsh s",
    "{ cat; } <<E > s\nzap x\nE\nsh s",
    "sed s/q/z/ <<E > >(sh); sleep 0.3\nqap x\nE",
  ]),
  ...bash("by what arguments after a redirection read", [
    "sed s/q/z/ <<< 'qap x' > f; xargs < f env",
    "xargs echo <<< 'zap x' | sh",
    "xargs -I{} echo {} <<< 'zap x' | sh",
    "xargs -n2 echo <<< 'zap x' > s; sh s",
  ]),
  ...bash("by a file that is computed and moved", [
    `${COMPUTED}cp p/s .; sh s`,
    `${COMPUTED}cp p/s q; ./q`,
    `${COMPUTED}cp p/* .; ./s`,
    `${COMPUTED}mv p d; ./d/s`,
    `${COMPUTED}ln -s p d; ./d/s`,
    `${COMPUTED}cd p; ./s`,
    `${COMPUTED}(cd p && sh s)`,
    `${COMPUTED}env -C p ./s`,
    `${COMPUTED}tar -C p -cf t s; tar xf t; ./s`,
  ]),
  ...bash(
    "by a file that code writes",
    ["openssl base64 -d -in <(echo zap x | base64) -out s; chmod +x s; ./s"],
    "openssl",
  ),
  ...bash(
    "by a file that code writes",
    [
      'python3 -c \'open("s","w").write("za" "p x")\'; sh s',
      'python3 -c \'open("s","w").write("za" "p x")\'; chmod +x s; ./s',
      "python3 <<E\nopen('s','w').write('za' 'p x')\nE\nsh ./s",
    ],
    "python3",
  ),
  ...bash("by a file that code writes", ['perl -e \'open F,">s"; print F "za"."p x"\'; sh s'], "perl"),
  ...bash("by a file that code writes", ['node -e \'fs.writeFileSync("s","za"+"p x")\'; sh s'], "node"),
  ...bash(
    "by a patch",
    [
      `git init -q; printf '${PATCH}' | git apply; sh s`,
      `git init -q; printf '${PATCH}' > p; git apply p; chmod +x s; ./s`,
      `git init -q; git apply <<E\n${PATCH}E\nsh s`,
      `git init -q; printf '${PATCH.replace("zap", "qap")}' | sed s/q/z/ | git apply; sh s`,
    ],
    "git",
  ),
  ...bash("by an option that names a program", ["dbus-run-session --dbus-daemon ZAP true; true"], "dbus-run-session"),
];

export const BY_MADE_FILES: readonly Variant[] = [...computed, ...made, ...moved, ...read];
