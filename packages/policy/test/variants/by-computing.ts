// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell

import { bash, type Variant } from "./variant.js";

const named = bash("by a computed name", [
  "$(basename /opt/zap) x",
  "$(basename /opt/zap.sh .sh) x",
  "$(dirname zap/y) x",
  "$(which zap) x",
  "$(command -v zap) x",
  "$(type -P zap) x",
  '"$(realpath "$(which zap)")" x',
  "hash -p $(command -v zap) q; q x",
  "$(date +zap) x",
  "$(find / -maxdepth 0 -printf zap) x",
  "touch zap; $(ls) x",
  "touch zap; * x",
  "touch zap; set -- *; $1 x",
  "zap=1; ${!z*} x",
  "env z=zap sh -c '$z x'",
  "set -- -z zap; getopts z: o; $OPTARG x",
  "[[ zap =~ .* ]]; $BASH_REMATCH x",
  'a=(ls zap); "${a[@]:1}" x',
  "read -a a <<< 'ls zap'; ${a[1]} x",
  "z=a.zap; ${z##*.} x",
  "z=zap.a; ${z%.*} x",
  "z=zap.a.b; ${z%%.*} x",
  "z=zqp; ${z/[q]/a} x",
  "z=xzapx; ${z: 1 : -1} x",
  "z=xzapx; ${z:(-4):3} x",
  "z='\\x7aap'; ${z@E} x",
]);

const evaluated = bash("in what is evaluated", [
  "let 'a[$(zap x)]=1'",
  "test -v 'a[$(zap x)]'",
  "printf -v 'a[$(zap x)]' 1",
  "read 'a[$(zap x)]' <<< 1",
  "declare -i z='a[$(zap x)]'",
  "z='a[$(zap x)]'; echo $((z))",
  "z='a[`zap x`]'; [[ $z -eq 0 ]]",
  "z='$(zap x)'; : \"${z@P}\"",
  "y=(1); z='y[$(zap x)]'; : ${!z}",
  "(( $(echo 'a[$(zap x)]') ))",
  "BASH_ALIASES[q]='zap x'; shopt -s expand_aliases\nq",
  "BASH_CMDS[q]=ZAP; q x",
  "env 'BASH_FUNC_ls%%=() { zap x; }' bash -c ls",
  "env 'BASH_FUNC_my-fn%%=() { zap x; }' bash -c my-fn",
  "IFS=_; z=zap_x; $z",
  "IFS=d; z=envdzapdx; $z",
  "IFS=-; z=env-zap-x; $z",
]);

export const BY_COMPUTING: readonly Variant[] = [...named, ...evaluated];
