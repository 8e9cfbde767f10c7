// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell
import { bash, type Variant } from "./variant.js";

const copied = (scripts: readonly string[], needs?: string): Variant[] =>
  bash("by a copy or a link of a program", scripts, needs);

const REPOSITORY =
  "git init -q; git config user.name a; git config user.email a; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; ";

/** A program under another name, and files that other commands make and programs load. */
export const BY_COPIES: readonly Variant[] = [
  ...copied([
    "cp ZAP s; ./s",
    "cp ZAP s; chmod +x s; PATH=. s",
    "dd if=ZAP of=s status=none; chmod +x s; ./s",
    "sort ZAP -o s; chmod +x s; ./s",
    "install ZAP s; ./s",
    "ln ZAP s; ./s",
    "ln -s ZAP s; ./s",
    'ln -s "$(command -v zap)" s; ./s',
    'cp "$(which zap)" s; ./s x',
    "ln -s $(type -P zap) s; ./s",
    "cp {ZAP,s}; ./s",
    "mv $(cp ZAP q; echo q) s; ./s",
    "ln -s ZAP s; env ./s",
    "ln -s ZAP s; xargs ./s < /dev/null",
    "ln -s ZAP s; find . -name s -exec ./s \\;",
    "ln -s ZAP true; PATH=.:$PATH true; env PATH=. true",
    "ln -s ZAP ls; PATH=.:$PATH; ls",
    "mkdir b; ln -s ZAP b/ls; export PATH=$PWD/b:$PATH; ls",
    "ln -s ZAP p; tar cf t /etc/hosts --use-compress-program=./p; true",
    "mkdir d; ln -s ZAP d/a; run-parts d",
    "cp /bin/bash ls2; ./ls2 <<< 'zap x'",
    "ln -s /bin/bash git2; echo zap x | ./git2",
    "ln -s /usr/bin/env ls2; ./ls2 zap x",
  ]),
  ...copied(["curl -so s file://ZAP; chmod +x s; ./s"], "curl"),
  ...copied(["cmake -E copy ZAP l; ./l"], "cmake"),
  ...copied(["ln -s ZAP p; make SHELL=./p -f- <<< 'a:; x'; true"], "make"),
  ...copied(["busybox cp ZAP s; ./s"], "busybox"),
  ...copied(
    [
      "mkdir b; ln -s ZAP b/as; echo | gcc -Bb -xc -c -; true",
      "mkdir b; ln -s ZAP b/as; echo | COMPILER_PATH=b gcc -xc -c -; true",
    ],
    "gcc",
  ),
  ...copied(["mkdir v; cp ZAP v/none-amd64-linux; export VALGRIND_LIB=v; valgrind --tool=none true; true"], "valgrind"),
  ...copied(
    ["mkdir -p node_modules/.bin; ln -s ZAP node_modules/.bin/q; echo '{}' > package.json; npx --no-install q"],
    "npx",
  ),
  ...copied(
    [
      "ln -s ZAP editor; EDITOR=./editor git config -e --global",
      `${REPOSITORY}ln -s ZAP .git/hooks/post-checkout; git checkout -q -b z`,
      `${REPOSITORY}cp ZAP .git/hooks/post-checkout; git checkout -q -b z`,
      `${REPOSITORY}mkdir h; ln -s ZAP h/post-checkout; git config core.hooksPath h; git checkout -q -b z`,
      `${REPOSITORY}install ZAP .git/hooks/pre-commit; git commit -q --allow-empty -m x`,
    ],
    "git",
  ),
  ...bash(
    "by a file that git makes or reads",
    [
      "git mailinfo s p <<< $'Subject: b\\n\\nzap x\\n---\\n'; . ./s",
      "git remote-ext o 'zap' <<< 'connect git-upload-pack'; true",
      "git init -q; printf 'blob\\nmark :1\\ndata 5\\nzap x\\ncommit refs/heads/q\\ncommitter a <a> 0 +0000\\ndata 0\\nM 755 :1 s\\n\\n' | git fast-import --quiet; git checkout -q q; sh s",
      "git init -q; git -c user.name=a -c user.email=a fast-import --quiet <<E\nblob\nmark :1\ndata <<F\nzap x\nF\ncommit refs/heads/q\ncommitter a <a> 0 +0000\ndata 0\nM 644 :1 s\n\nE\ngit checkout -q q; bash s",
      `${REPOSITORY}echo 'exec zap x' > f; git -c sequence.editor='cp f' rebase -q -i HEAD~1`,
      `${REPOSITORY}echo 'x zap x' > f; git -c sequence.editor='cat f >>' rebase -q -i HEAD~1`,
      `${REPOSITORY}git -c sequence.editor='echo x zap x >>' rebase -q -i HEAD~1`,
      `${REPOSITORY}git -c sequence.editor="sed -i '1ix zap x'" rebase -q -i HEAD~1`,
      `${REPOSITORY}git -c sequence.editor="sed -i '1{h;s/.*/x zap x/;G}'" rebase -q -i HEAD~1`,
      `${REPOSITORY}printf 'x zap x\\n' > f; EDITOR='mv f' git rebase -q -i HEAD~1`,
      "printf '#!/bin/sh\\nzap\\n' > git-remote-z; chmod +x git-remote-z; PATH=$PATH:$PWD git ls-remote z::a; true",
      "printf '#!/bin/sh\\nzap\\n' > git-remote-z; chmod +x git-remote-z; PATH=$PATH:$PWD git clone -q z://a; true",
    ],
    "git",
  ),
  ...bash("by a file that another command makes", [
    "f() { echo zap x; } > s; f; sh s",
    "install <(echo zap x) s; ./s",
    "install -m755 <(printf '#!/bin/sh\\nzap x') s; ./s",
    "ln -s /proc/self/fd/0 s; . ./s <<< 'zap x'",
    "ln -s /dev/fd s; sh s/0 <<< 'zap x'",
  ]),
  ...bash("by a file that another command makes", ["env time -f 'zap x' -o s true; . ./s"], "time"),
  ...bash(
    "by a program that a variable names the directory of",
    [
      "mkdir v; printf '#!/bin/sh\\nzap x\\n' > v/q-amd64-linux; chmod +x v/*; VALGRIND_LIB=$PWD/v valgrind --tool=q true; true",
    ],
    "valgrind",
  ),
];
