// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell

import { bash, shell, type Variant } from "./variant.js";

const changed = bash("in a text that is changed on its way to a shell", [
  "eval \"$(sed s/q/a/ <<< 'zqp x')\"",
  "sed s/q/a/ <<< 'zqp x' | bash",
  "echo 'q1zap x' | cut -c3- | sh",
  "echo '# zap x' | cut -d' ' -f2- | dash",
  "bash <(sed 's/^#//' <<< '#zap x')",
  "bash < <(awk '{print \"za\" $1}' <<< 'p x')",
  "sed 's/^/za/' <<< 'p x' > s; . ./s",
  "sh -c \"$(tail -c +2 <<< 'qzap x')\"",
  "printf 'cat <<E\\nzap x\\nE\\n' | sed -n 2p | bash",
  "echo PJQXAIDY | base32 -d | bash",
  "echo PJQXAIDY | basenc --base32 -d | bash",
  "printf 'zap x' | gzip | gunzip | bash",
  "printf 'paz x' | sed 's/paz/zap/' | source /dev/stdin",
  "{ echo -n za; echo 'p x'; } | sed '' | bash",
  "for c in z a p; do printf $c; done | bash",
  "tr -s p <<< 'zapp x' | bash",
  "fold -w1 <<< zap | paste -sd '' | bash",
  "printf 'p x\\nza\\n' | tac | paste -sd '' | bash",
  "join -o 1.2,2.2 -t , <(echo 1,za) <(echo 1,p) | tr -d , | bash",
  "printf '%d' 1 > n; printf \"\\\\x7a\\\\x6$(cat n)p x\" | bash",
  "echo 'zap x' > f; while read -rN1 c; do printf %s \"$c\"; done < f | bash",
  "sort <<< 'zap x' | xargs -0 bash -c",
  "sed s/q/a/ <<< zqp | xargs -I% env % x",
  "eval $(cut -c2- <<< qzap) x",
  "trap \"$(sed s/q/a/ <<< 'zqp x')\" EXIT",
  "bash -c \"true; $(sed s/q/a/ <<< 'zqp x')\"",
  "bash <<E\n$(sed s/q/a/ <<< 'zqp x')\nE",
  "z=$(sed s/q/a/ <<< 'zqp x'); eval \"$z\"",
  'coproc cat; echo \'zqp x\' >&"${COPROC[1]}"; read -r l <&"${COPROC[0]}"; eval "${l/q/a}"',
  "alias y=\"$(sed s/q/a/ <<< 'zqp x')\"; shopt -s expand_aliases; eval y",
]);

const named = bash("by a name that is computed", [
  "$(expr substr qzap 2 3) x",
  "$(sed s/q/a/ <<< zqp) x",
  "`cut -c2- <<< qzap` x",
  "env $(cut -c2- <<< qzap) x",
  "read -n3 v <<< zapx; $v x",
  "read -d q v <<< zapq; $v x",
  "IFS=q read a b <<< aqzap; $b x",
  "c=qqzapqq; n=2; ${c:n:3} x",
  "c=qqzapqq; ${c:1+1:3} x",
  "c=zqp; r=a; ${c/q/$r} x",
  'a=(z a p); IFS=; "${a[*]}" x',
  'set -- z a p; IFS=; "$*" x',
  "for c in 1 2 3 4 5 6 7 8 zap; do $c x; done 2> /dev/null",
  "mkdir zap; cd zap; ${PWD##*/} x; mv x .. 2> /dev/null; true",
  "f() { local c=${1}p; $c x; }; f za",
  "z=(a z p); ${z[1]}${z[0]}${z[2]} x",
  "printf -v z %s%s za p; $z x",
  "z=za; z+=${z:+p}; $z x",
  "command $(tr q a <<< zqp) x",
  "nohup $(basename zapq q) x",
  "$(date +z%%ap | tr -d %) x",
  "exec {fd}<<< zqp; read -ru $fd v; ${v/q/a} x",
]);

const matched = bash("by a pattern that matches its name", [
  "ln -s ZAP zap; ./z?p x",
  "ln -s ZAP zap; ./[z]ap x",
  "ln -s ZAP zap; env ./*ap x",
  "ln -s ZAP zap; find . -name 'z*' -exec {} x \\;",
]);

const evaluated = bash("in a quoted text that is evaluated", [
  "[[ -v 'a[$(zap x)]' ]]",
  "[[ ! -v 'a[$(zap x)]' && 1 ]]",
  "[[ 'a[$(zap x)0]' -eq 1 ]]",
  "(( 'a[$(zap x)0]' ))",
  "for ((i='a[$(zap x)0]'; i<0;)); do :; done",
  "a=(1); echo \"${a['$(zap x)0']}\"",
  "z=abc; echo ${z:'a[$(zap x)0]'}",
]);

const made = bash("in a file that is made from a text", [
  "echo 'zqp x' > f; sed -i s/q/a/ f; sh f",
  "echo 'zqp x' > f; perl -pi -e s/q/a/ f; . ./f",
  "dd of=f <<< 'zqp x' 2> /dev/null; sed -i s/q/a/ ./f; bash f",
  "sed s/q/a/ <<< 'zqp x' > f; bash ?",
  "sed s/q/a/ <<< 'zqp x' > f; bash < f",
  "printf '#!/bin/sh\nzqp x\n' | sed s/q/a/ > f; chmod +x f; ./f",
  "printf '#!/bin/sh\nzqp x\n' | sed s/q/a/ > f; chmod +x f; ./?",
  "printf '#!/bin/sh\nzqp x\n' > f; sed -i s/q/a/ f; chmod +x f; ./f",
  "git init -q; sed s/q/a/ <<< $'#!/bin/sh\nzqp x' > .git/hooks/pre-commit; chmod +x .git/hooks/*; git -c user.name=a -c user.email=a commit -q --allow-empty -m x",
  "sed s/q/a/ <<< $'[alias]\ny = !zqp x' > ~/.gitconfig; git y",
  "sed s/q/a/ <<< 'ZqP x' | tr ZP zp | tee f > /dev/null; bash f",
  'env -S "$(sed s/q/a/ <<< zqp) x"',
  "find . -maxdepth 0 -exec $(sed s/q/a/ <<< zqp) x \\;",
  "sed s/q/a/ <<< '!zqp x' | ed -s",
  "tee >(sed s/q/a/ | bash) <<< 'zqp x'; sleep 0.3",
  "exec 3< <(sed s/q/a/ <<< 'zqp x'); bash /dev/fd/3",
  "sed s/q/a/ <<< 'y:; zqp x' | make -sf -",
  'f() { echo "$1" | tr q a; }; $(f zqp) x',
]);

const dialects = [
  ...shell("by a name that is computed", "zsh", [
    "z=qzap; ${z[2,-1]} x",
    "z=pza; ${z[2,3]}${z[1]} x",
    "${(j::):-z a p} x; ${(j::)$(echo z a p)} x",
    "z=qZAP; ${(L)z#q} x",
    "${${:-qzap}#q} x",
    "${$(echo qzap)#q} x",
    "hash q=ZAP; q x",
  ]),
  ...shell("by a name that is computed", "fish", [
    "eval (string replace q a zqp) x",
    "set z (string sub -s 2 qzap); $z x",
    "echo zqp x | string replace q a | source",
    "set -x z z; {$z}ap x",
    "z\\x61p x; z\\X61p x",
    "z\\u0061p x; \\172\\141\\160 x",
  ]),
  ...shell("by a name that is computed", "dash", ["$(expr substr qzap 2 3) x", "z=qzap; ${z#?} x"]),
];

export const BY_RUN_TIME: readonly Variant[] = [...changed, ...named, ...matched, ...evaluated, ...made, ...dialects];
