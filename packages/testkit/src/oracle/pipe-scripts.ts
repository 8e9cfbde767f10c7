/** Scripts on pipes, one per line: for `sh`, for `bash`, and for `sh` with input. */
export const PIPES = String.raw`
true
false
exit 0
exit 1
exit 42
exit 127
exit 255
exit 256
no-such-program-anywhere
/etc
/dev/null
./missing/path
kill -TERM $$
kill -KILL $$
kill -HUP $$
kill -INT $$; sleep 5
kill -SEGV $$
kill -USR1 $$
kill -PIPE $$
sh -c 'kill -9 $$'; echo $?
sh -c 'kill -15 $$'; echo $?
trap 'echo trapped; exit 9' TERM; kill -TERM $$; sleep 5
trap '' TERM; kill -TERM $$; echo survived
trap 'echo at exit' EXIT; exit 3
(exit 5); echo $?
set -e; false; echo not reached
set -u; echo $nothing_of_that_name
echo one; echo two >&2; exit 3
echo -n no newline
printf 'a\nb\nc'
printf '\n\n\n'
printf '\000\001\002\377\376'
printf 'caf\303\251 \342\202\254 \360\237\230\200\n'
printf 'torn \342\202'
printf '\357\273\277bom\n'
printf '\033[31mred\033[0m\n'
printf 'a\rb\r\nc\n'
printf 'tab\there\vvt\fff\n'
printf '%s\n' "quotes ' and \" and \\ and \$"
head -c 1 /dev/zero
head -c 4095 /dev/zero
head -c 4096 /dev/zero
head -c 4097 /dev/zero
head -c 65535 /dev/zero
head -c 65536 /dev/zero
head -c 65537 /dev/zero
head -c 1000000 /dev/zero
head -c 1048576 /dev/zero | tr '\0' x
head -c 3000000 /dev/zero | tr '\0' '\377'
seq 1 1000
seq 1 200000
seq -s, 1 5000
seq 1 5000 >&2
seq 1 3000; seq 1 3000 >&2; exit 7
seq 1 100000 | head -n 10
seq 1 100000 | tail -n 10
seq 1 100000 | wc -l
seq 1 1000 | sort -r | uniq | head -3
seq 1 100 | awk '{s+=$1} END {print s}'
seq 1 20 | sed -n '5,7p'
seq 1 20 | paste -sd+ | bc
seq 1 9 | tr -d '\n' | rev
yes | head -n 100000
yes 'a long line of text that is written again and again' | head -c 700000
i=0; while [ $i -lt 500 ]; do echo $i; i=$((i+1)); done
i=0; while [ $i -lt 200 ]; do printf .; i=$((i+1)); done; echo
for f in a b c; do touch $f; done; ls
mkdir d; cd d; touch x; ls -1; cd ..; rm -r d; ls
echo text > file; cat file; wc -c < file
echo text > file; cat file file file
echo a > f; echo b >> f; cat f
cat missing-file
ls missing-dir
cd missing-dir
rm missing
cat < missing
echo x > missing-dir/file
chmod 000 f 2>&1; echo $?
touch plain; ./plain
printf '#!/bin/sh\necho script $1\n' > s; chmod +x s; ./s arg
printf '#!/no/such/interpreter\n' > s; chmod +x s; ./s
echo "$HOME" | wc -c
echo "$PATH" | tr : '\n' | wc -l
env -i A=1 B=2 env | sort
A=1 sh -c 'echo $A'
export X=y; sh -c 'echo $X'
unset PATH; echo still here
umask 022; touch f; stat -c %a f
ulimit -n | grep -c .
pwd | grep -c /
echo $0
echo $#
set -- a 'b c' d; echo $#; for x; do echo "<$x>"; done
test -t 0; echo $?
test -t 1; echo $?
test -t 2; echo $?
tty
cat
read x; echo "got <$x> $?"
wc -c
sleep 0.05; echo late
(sleep 0.05; echo child) & echo parent; wait
(sleep 0.1; echo after) & exit 4
(echo a; sleep 0.02; echo b) | (sleep 0.01; cat)
echo a | cat | cat | cat | cat | cat
false | true; echo $?
true | false
! true; echo $?
false || echo or
true && echo and
exec echo replaced
exec no-such-program
exec >/dev/null; echo hidden
exec 2>&1; echo err >&2
exec 3>&1; echo three >&3
echo out; exec 1>&-; echo closed
echo to-stdout 2>/dev/null; echo to-stderr >&2 2>/dev/null
cat <<EOF
cat <<'X' | wc -c
echo $((1+2*3)) $((7/2)) $((7%3)) $((-7/2))
echo \${a:-default} \${#PATH} | cut -c1-7
case abc in a*) echo yes;; *) echo no;; esac
f() { echo f $1; return 6; }; f x; echo $?
f() { [ $1 -le 0 ] && return; f $(($1-1)); printf $1; }; f 20
eval 'echo evaluated'
eval 'syntax error here ('
if; then
echo "unterminated
)
python3 -c 'print("py"); import sys; sys.exit(12)'
python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)))'
python3 -c 'import sys; sys.stderr.write("err\n"); raise SystemExit("message")'
python3 -c 'raise ValueError("x")' 2>&1 | tail -n 1
python3 -c 'import os; os.abort()'
python3 -c 'import os,signal; os.kill(os.getpid(), signal.SIGTERM)'
python3 -c 'import sys; print(sys.stdin.isatty(), sys.stdout.isatty())'
python3 -c 'print("ü" * 5000)'
python3 -c 'import os; print(os.getsid(0) == os.getpid() or os.getsid(0) == os.getppid())'
python3 -c 'import os; print(sorted(int(f) for f in os.listdir("/proc/self/fd"))[:3])'
perl -e '$|=1; for (1..300) { print STDOUT "o$_\n"; print STDERR "e$_\n" }'
perl -e 'print "x" x 200000, "\n"; exit 33'
perl -e 'kill 11, $$'
perl -e 'fork; print "twice\n"'
perl -e 'exec "echo", "from", "perl"'
perl -e 'close STDOUT; print STDERR "closed\n"'
awk 'BEGIN { for (i=0;i<50000;i++) print i*i }'
awk 'BEGIN { printf "%c%c", 228, 246 }'
awk 'BEGIN { exit 21 }'
bc -q </dev/null
echo '2^200' | bc
date -u -d @0 +%Y-%m-%dT%H:%M:%S
od -An -tx1 -N16 /dev/zero
cksum /dev/null
echo hello | md5sum
tar cf - -C / etc/hostname 2>/dev/null | tar tf -
find . -name '*.none'
touch b a c; ls | sort; ls | wc -l
xargs -n1 echo < /dev/null
printf 'a b\nc d\n' | xargs -n1 echo
printf 'b\na\n' | sort | tee copy; cat copy
dd if=/dev/zero bs=1000 count=100 2>/dev/null | wc -c
dd if=/dev/zero bs=100000 count=5 2>/dev/null
timeout 0.1 sleep 5; echo $?
timeout -s KILL 0.1 sleep 5; echo $?
nohup echo hup 2>/dev/null
nice echo nice
setsid sh -c 'echo own session'
env printf 'env %s\n' works
stdbuf -o0 echo unbuffered
mkfifo p; (echo through > p) & cat p
mkfifo p; cat p & echo x > p; wait
ln -s target link; readlink link
ln -s loop loop; cat loop
sh -s </dev/null
sh -n -c 'if' ; echo $?
command -v sh
type no-such-thing; echo $?
which no-such-thing; echo $?
getconf PAGESIZE
expr 3 + 4; expr 0; echo $?
`;

export const BASH = String.raw`
echo {1..20}
echo ${"$"}{PIPESTATUS[@]} | true; false | true | false; echo "${"$"}{PIPESTATUS[@]}"
set -o pipefail; false | true
a=(1 2 3); echo "${"$"}{a[@]}" "${"$"}{#a[@]}"
declare -A m=([x]=1); echo "${"$"}{m[x]}"
[[ abc =~ b(.) ]] && echo "${"$"}{BASH_REMATCH[1]}"
diff <(seq 1 5) <(seq 2 6)
cat <<< 'here string'
printf -v x '%05d' 42; echo $x
read -r -d '' x < <(printf 'a\nb\0'); echo "$x"
exec -a other sh -c 'echo $0'
trap 'echo err at $LINENO' ERR; false; true
coproc cat; echo hi >&"${"$"}{COPROC[1]}"; read -r l <&"${"$"}{COPROC[0]}"; echo $l
mapfile -t l < <(seq 3); echo "${"$"}{#l[@]}"
echo $'\u00e9\t\x41'
ulimit -S -c 0; kill -QUIT $$
disown; jobs; echo ok
for ((i=0;i<3000;i++)); do echo "$i $((i*i))"; done
select x in a b; do echo $x; done < /dev/null
`;

export const STDIN: readonly (readonly [script: string, input: string])[] = [
  ["cat", ""],
  ["cat", "one line\n"],
  ["cat", "no newline"],
  ["cat", "\0\x01binary\x7f\n"],
  ["cat", "ü€😀\n".repeat(1_000)],
  ["cat", "x".repeat(500_000)],
  ["cat >&2", "to stderr\n"],
  ["wc -c", "y".repeat(200_000)],
  ["head -n 1", "first\nsecond\n".repeat(10_000)],
  ["tail -n 1", "first\nlast\n"],
  ["sort", "c\nb\na\n"],
  ["sh", "echo from stdin\nexit 8\n"],
  ["bash", "echo bash; exit 9\n"],
  ["python3", "print('from stdin')\nimport sys; sys.exit(10)\n"],
  ["python3 -c 'import sys; print(len(sys.stdin.read()))'", "abc".repeat(1_000)],
  ['read a; read b; echo "$b $a"', "one\ntwo\nthree\n"],
  ['while read l; do echo "<$l>"; done', "a\nb\nc"],
  ['while IFS= read -r l; do echo "$l"; done; exit 3', "  blanks  \n\\back\\slash\n"],
  ["bc", "1+1\n2^64\nquit\n"],
  ["awk '{ print NF }'", "a b c\n\nd\n"],
  ["sed s/a/b/", "banana\n"],
  ["exit 6", "never read\n"],
  ["sleep 0.05; exit 0", "never read either\n"],
  ["cat; kill -TERM $$", "then a signal\n"],
  ["tee a b; cat a b", "three times\n"],
  ["od -An -c", "bytes\t\n"],
  ["perl -ne 'print uc'", "shout\n"],
  ["xargs", "a\nb\nc\n"],
  ["dd bs=1 count=5 2>/dev/null", "abcdefgh"],
  ["tr a-z A-Z | rev", "abc\n"],
];
