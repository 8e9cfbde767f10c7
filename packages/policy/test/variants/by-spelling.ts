// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell
import { bash, shell, type Variant } from "./variant.js";

/** Texts that a shell reads otherwise than they look, and syntax that only some shells have. */
export const BY_SPELLING: readonly Variant[] = [
  ...bash("by a text that ends early", [
    "echo -e 'zap\\cfoo' | sh",
    "printf '%b' 'zap\\cfoo' | sh",
    "printf '%b%s' 'zap\\cfoo' q | sh",
    "eval \"$(echo -e 'zap\\cfoo')\"",
    "$'zap\\0foo' x",
    "$'zap\\x00q' x",
    "$'za\\0q'p x",
    "$'za\\u0000q'p x",
    "$'za\\c@q'p x",
  ]),
  ...bash("by null characters", [
    "$(printf 'z\\x00ap' 2>/dev/null) x",
    "printf 'z\\000ap x' | bash",
    "printf 'zap\\000 x' | sh",
    "eval \"$(printf 'z\\000ap x')\" 2> /dev/null",
    "read v < <(printf 'z\\0ap'); $v x",
  ]),
  ...bash("by an empty part of a word", ["z``ap x", 'z$""ap x', "``zap x", 'env z$""ap x']),
  ...bash("by a value that is cut", [
    "n=12345678zap; ${n:010} x",
    "n=qzap; ${n/#q} x",
    "n=zapq; ${n/%q} x",
    "n=qap; ${n/#q/z} x",
    "IFS=0123; v='q1zap'; set -- $v; $2 x",
    "IFS=q; for v in ${x-zap}; do $v x; done",
  ]),
  ...bash("by what removes quotes", [
    "echo \"z'a'p\" | xargs -I% env % x",
    "echo 'z\\ap' | xargs -I% env % x",
    "bash <<E\n\\`echo zap\\` x\nE",
    "bash <<E\n\\z\\ap x\nE",
  ]),
  ...shell("by syntax of another shell", "zsh", [
    "typeset -L3 z=zapq; $z x",
    "typeset -R3 z=qzap; $z x",
    "NULLCMD=zap; > x; > y",
    "READNULLCMD=zap; < /etc/hosts",
    "z='zap x'; sh -c $z",
    "z=zqqap; z[2,3]=; $z x",
    "z=qap; z[1]=z; $z x",
    "setopt braceccl; z{a}p x",
  ]),
  ...shell("by syntax of another shell", "ksh93", [": ${ zap x; }", "z=${ echo zap; }; $z x"]),
  ...shell("by syntax of another shell", "mksh", [": ${ zap x;}", "typeset -L3 z=zapq; $z x"]),
  ...shell("by syntax of another shell", "yash", [
    ". -A /dev/stdin <<E\nzap x\nE",
    "COMMAND_NOT_FOUND_HANDLER=('zap x'); nosuch",
  ]),
];
