// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell
import { bash, type Variant } from "./variant.js";

/** Scripts that a shell changes before it runs them, and values that come from elsewhere than they seem to. */
export const BY_READING: readonly Variant[] = [
  ...bash("by the history", [
    "set -o history -o histexpand\n: zap x\n!!:1 x",
    "set -o history -o histexpand\necho qap\n^echo q^z",
    "set -Ho history\n: zap x\n!!:1 x",
    "h=histexpand; set -o history -o $h\n: zap x\n!!:1 x",
    "set +o posix -o history -o histexpand\n: zap x\n!!:1 x",
    "printf ': zap x\\n!:1 x\\n' | bash --rcfile /dev/null -i",
    "bash --norc -i <<< $': zap x\\n!!:1 x'",
    "printf ': zap x\\n!:1 x\\n' | bash -i",
    "printf 'set -o history -H\\n: zap x\\n!!:1 x\\n' | bash",
  ]),
  { way: "by the history", argv: ["bash", "-Hc", "set -o history\n: zap x\n!!:1 x"], needs: undefined },
  {
    way: "by the history",
    argv: ["bash", "-o", "histexpand", "-c", "set -o history\n: zap x\n!!:1 x"],
    needs: undefined,
  },
  { way: "by a comment", argv: ["bash", "+O", "interactive_comments", "-ic", "echo # ; zap x"], needs: undefined },
  { way: "by a comment", argv: ["bash", "-ic", "shopt -u interactive_comments\necho # ; zap x"], needs: undefined },
  ...bash("by a comment", ["o=interactive_; bash +O ${o}comments -ic 'echo # ; zap x'"]),
  { way: "by a comment", argv: ["zsh", "-fc", "HISTCHARS='!^%'; eval 'echo a # ; zap x'"], needs: "zsh" },
  ...bash("by a comment", ["zsh -fis <<< 'echo a # ; zap x'", "echo 'echo a # ; zap x' | zsh -fi"], "zsh"),
  ...bash("by a tilde", [
    "HOME=zap; ~ x",
    "OLDPWD=zap; ~- x",
    "PWD=zap; ~+ x",
    "HOME=zap; command ~ x",
    "HOME=zap; exec ~ x",
    "HOME=zap\nenv ~ x",
    "HOME=zap; timeout 5 ~ x",
  ]),
  ...bash(
    "by an exported variable",
    [
      "a=zap; export a; node -e 'require(\"child_process\").execSync(process.env.a)'",
      "set -a; a=zap; perl -e 'exec $ENV{a}'",
      "read a <<< zap; export a; perl -e 'system $ENV{a}'",
      "printf -v a zap; export a; perl -e 'system $ENV{a}'",
    ],
    "perl",
  ),
  ...bash(
    "by a file that is not named",
    [
      "touch zap; perl -e 'system glob \"z*\"'",
      "mkdir zap; perl -e 'opendir D, \".\"; system grep { /z/ } readdir D'",
      "echo zap > f.txt; perl -e 'system(`cat f*`)'",
      "echo 'zap x' > f.md; perl -ne 'system $_' *",
      "echo 'zap x' > f.html; awk '{system($0)}' *",
      "echo 'zap x' > f.txt; sed 1e *.txt < /dev/null; sed -n '1s/.*/&/e;p' *.txt",
    ],
    "perl",
  ),
  ...bash("by an argument of a script", ["bash -c '[[ $1 -eq 0 ]]' _ 'a[$(zap x)]'"]),
  ...bash(
    "by a shell in code",
    [
      "awk 'BEGIN{system(\"sh\")}' <<< 'q=z; ${q}ap x'",
      "perl -e 'exec \"sh\"' <<< 'q=z; ${q}ap x'",
      "/proc/self/exe <<< '\"z\"ap x'",
      "echo 'q=z; ${q}ap x' | /proc/self/exe",
      "echo 'q=z; ${q}ap x' > f; /proc/self/exe f",
      "ln -s /proc/$$/exe q; ./q <<< '\"z\"ap x'",
    ],
    "perl",
  ),
  ...bash(
    "by a word in parts in other code",
    ["printf 'x:\\n\\tz\\\\ap x\\n' > Makefile; make", "awk 'BEGIN{system(\"z\\\\ap x\")}'"],
    "make",
  ),
  ...bash("by a script of its own", ["sh /usr/bin/fakeroot zap x"], "fakeroot"),
  ...bash(
    "by a file that a database writes",
    [
      "sqlite3 :memory: '.once f' \"select 'za'||'p x'\"; sh f",
      "printf \".output f\\nselect 'za'||'p x';\\n\" | sqlite3 -batch :memory:; sh f",
    ],
    "sqlite3",
  ),
  ...bash(
    "by a setting of apt",
    [
      "apt-cache -o Dir::Bin::dpkg=ZAP policy",
      "apt-get -o Debug::NoLocking=1 -o Dir::State=. -o Dir::State::status=/var/lib/dpkg/status -o Dir::Cache=. -oDir::Bin::dpkg=ZAP check",
    ],
    "apt-cache",
  ),
  ...bash(
    "by a package with scripts",
    [
      "mkdir -p p/DEBIAN d/var/lib/dpkg/updates d/var/lib/dpkg/info d/var/lib/dpkg/triggers; touch d/var/lib/dpkg/status d/var/lib/dpkg/available; printf 'Package: q\\nVersion: 1\\nArchitecture: all\\nMaintainer: a\\nDescription: a\\n' > p/DEBIAN/control; printf '#!/bin/sh\\nzap x\\n' > p/DEBIAN/preinst; chmod 755 p/DEBIAN/preinst; dpkg -b p q.deb; dpkg --root=$PWD/d --force-not-root --force-script-chrootless --log=/dev/null -i q.deb",
    ],
    "dpkg",
  ),
  ...bash(
    "by the beginning of a word",
    [
      'mkdir -p node_modules/q; echo \'{"name":"q","version":"1.0.0"}\' > node_modules/q/package.json; npm explor q -- zap x',
    ],
    "npm",
  ),
  ...bash(
    "by a link of alternatives",
    [
      "mkdir a b; update-alternatives --altdir $PWD/a --admindir $PWD/b --log /dev/null --install $PWD/q q ZAP 1; ./q x",
    ],
    "update-alternatives",
  ),
  ...bash("by a source of FUSE", ["mount.fuse 'zap#x' /mnt"], "mount.fuse"),
];
