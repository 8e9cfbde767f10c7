import type { OracleScript } from "./oracle-script.js";

/** Scripts on a terminal, one per line: for `sh`. */
export const TERMINAL = String.raw`
true
exit 19
echo hello
tty >/dev/null; echo $?
test -t 0 && test -t 1 && test -t 2; echo $?
stty size
stty -a | head -n 1 | cut -d';' -f2,3
printf 'a\nb\n'
stty -opost; printf 'a\nb\n'
stty -onlcr; printf 'x\ny\n'
printf '\033[2J\033[H\033[1;31mred\033[0m\n'
printf 'caf\303\251 \360\237\230\200\n'
printf 'torn \342\202'
printf '\000\001\377'
echo out; echo err >&2; exit 5
head -c 4095 /dev/zero | tr '\0' a
head -c 4096 /dev/zero | tr '\0' b
head -c 100000 /dev/zero | tr '\0' c
head -c 1000000 /dev/zero | tr '\0' d
seq 1 5000
seq 1 50000; exit 17
yes | head -n 20000
i=0; while [ $i -lt 1000 ]; do echo "line $i"; i=$((i+1)); done
kill -TERM $$
kill -KILL $$
kill -HUP $$
trap 'echo hup' HUP; kill -HUP $$; echo on
sh -c 'kill -9 $$'; echo $?
ls --color=always /dev/null
tput cols; tput lines
tput setaf 1; echo red; tput sgr0
tput cup 5 10; echo here; tput clear
python3 -c 'import os; print(os.get_terminal_size())'
python3 -c 'import sys; print(sys.stdin.isatty(), sys.stdout.isatty())'
python3 -c 'import os; print(os.tcgetpgrp(0) == os.getpgrp())'
python3 -c 'import os; print(os.ttyname(0) == os.ttyname(1))'
(sleep 0.05; echo child) & wait; echo parent
sleep 0.05; echo late
echo a | cat | cat
perl -e '$|=1; print "p$_\n" for 1..500'
perl -e 'print "x" x 79, "\n", "y" x 80, "\n", "z" x 81, "\n"'
git --no-pager --version | cut -c1-11
no-such-program-anywhere
exec echo replaced
set -m; sleep 0.01 & wait; echo jobs
`;

/** Scripts on a terminal that are typed at. */
export const TYPED: readonly OracleScript[] = [
  typed('echo ready; read x; echo "got <$x>"', [["ready", "typed\r"]]),
  typed("echo ready; cat", [
    ["ready", "one\r"],
    ["one\r\none", "\x04"],
  ]),
  typed('echo ready; read x; echo "<$x>"', [["ready", "ab\x7fc\r"]]),
  typed('echo ready; read x; echo "<$x>"', [["ready", "wrong\x15right\r"]]),
  typed('echo ready; stty -echo; echo quiet; read x; stty echo; echo "<$x>"', [["quiet", "secret\r"]]),
  typed("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.05; done", [["ready", "\x03"]]),
  typed("echo ready; sleep 30", [["ready", "\x03"]]),
  typed("trap 'echo quit; exit 4' QUIT; echo ready; while :; do sleep 0.05; done", [["ready", "\x1c"]]),
  typed("stty raw -echo; echo ready; dd bs=1 count=3 2>/dev/null | od -An -tx1", [["ready", "\x01\x02\x03"]]),
  typed("echo ready; wc -l", [["ready", "a\rb\rc\r\x04"]]),
  typed("echo 'A? '; read a; echo 'B? '; read b; echo \"$a-$b\"", [
    ["A?", "1\r"],
    ["B?", "2\r"],
  ]),
  typed('echo ready; read x; echo "$x" | od -An -c', [["ready", "ü€\r"]]),
  drawn("bash --norc --noprofile -i", [
    ["$ ", "echo hi there\r"],
    ["hi there\r\n", "exit 5\r"],
  ]),
  drawn("bash --norc --noprofile -i", [
    ["$ ", "x=5; echo $((x*x))\r"],
    ["25", "false\r"],
    ["$ ", "echo code $?\r"],
    ["code 1", "exit\r"],
  ]),
  drawn("bash --norc --noprofile -i", [
    ["$ ", "sleep 30\r"],
    ["sleep 30\r\n", "\x03"],
    ["$ ", "echo back\r"],
    ["back\r\n", "\x04"],
  ]),
  drawn("bash --norc --noprofile -i", [
    ["$ ", "ech wrong\x17\x15echo right\r"],
    ["right\r\n", "exit\r"],
  ]),
  drawn("sh -i", [
    ["$ ", "echo sh\r"],
    ["sh\r\n", "exit 2\r"],
  ]),
  {
    ...drawn("python3 -q", [
      [">>> ", "1+1\r"],
      ["2", "print('x'*5)\r"],
      ["xxxxx", "exit(6)\r"],
    ]),
    needs: "python3",
  },
  {
    ...drawn("python3 -q", [
      [">>> ", "def f(x):\r"],
      ["... ", "  return x*2\r"],
      ["... ", "\r"],
      [">>> ", "f(21)\r"],
      ["42", "\x04"],
    ]),
    needs: "python3",
  },
  {
    // Its banner is the only sign that it is about to read: what is typed before is echoed twice.
    ...drawn("bc", [
      ["warranty", "2+3\r"],
      ["5", "quit\r"],
    ]),
    needs: "bc",
  },
  {
    ...drawn("seq 1 100 | less", [
      [":", "G"],
      ["100", "q"],
    ]),
    needs: "less",
  },
  {
    ...drawn("seq 1 100 | less", [
      [":", " "],
      [":", "/50\r"],
      ["50", "q"],
    ]),
    needs: "less",
  },
  { ...drawn("seq 1 100 | less -X", [[":", "q"]]), needs: "less" },
  {
    ...drawn("vim -u NONE -N -i NONE -n file", [
      ["~", "ihello vim\x1b"],
      ["hello vim", ":wq\r"],
    ]),
    needs: "vim",
  },
  {
    ...drawn("vim -u NONE -N -i NONE -n file", [
      ["~", ":set number\r"],
      ["1", "iabc\rdef\x1b"],
      ["def", ":q!\r"],
    ]),
    needs: "vim",
  },
  {
    ...drawn('perl -e \'$| = 1; print "name? "; $n = <STDIN>; chomp $n; print "hi $n\\n"; exit 11\'', [
      ["name?", "bob\r"],
    ]),
    needs: "perl",
  },
  { ...drawn("tput smcup; tput cup 3 3; echo drawn; read x; tput rmcup; echo left", [["drawn", "\r"]]) },
];

function typed(script: string, steps: OracleScript["steps"] & object): OracleScript {
  return { script, shell: "sh", tty: true, steps };
}

function drawn(script: string, steps: OracleScript["steps"] & object): OracleScript {
  return { script, shell: "sh", tty: true, steps, screen: true };
}
