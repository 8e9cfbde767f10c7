# What docs/media/demo.svg shows. From the root of a checkout:
#   ./scripts/codex run --tty --record /tmp/demo.cast -- bash docs/media/demo.sh
#   node scripts/render-recording.mjs /tmp/demo.cast docs/media/demo.svg
PATH="$PWD/scripts:$PATH"
cd "$(mktemp -d)"

say() { printf '\033[90m# %s\033[0m\n' "$1"; sleep 0.6; }
run() {
  printf '\033[32m$\033[0m '
  for ((i = 0; i < ${#1}; i++)); do
    printf %s "${1:i:1}"
    sleep 0.025
  done
  echo
  sleep 0.3
  eval "$1"
  sleep 1.2
}

say 'No output is lost, also when a program exits in the middle of a burst.'
run "codex run --tty -- seq 100000 | wc -l"
say 'No outcome is invented: how it ended, and who ended it.'
run "codex run -- sh -c 'kill -KILL \$\$'; echo \"exit code \$?\""
run "codex run --timeout 1 -- sleep 60; echo \"exit code \$?\""
say 'Nothing runs that was not allowed.'
run "codex sandbox -s read-only -- touch /etc/motd"
run "codex execpolicy explain 'cd build && sudo rm -rf *' | tail -n 2"
sleep 1
