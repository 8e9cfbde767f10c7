# Shared by codex, test and test-node: sets up the checkout. Everything it prints goes to stderr.
PNPM=pnpm@10.34.8

check_node() {
  command -v node >/dev/null 2>&1 || { echo "codex: Node.js 20.19 or newer is needed; \`node\` was not found on PATH" >&2; exit 1; }
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 20 || (+a === 20 && +b >= 19) ? 0 : 1)' || {
    echo "codex: Node.js 20.19 or newer is needed; this is $(node --version)" >&2
    exit 1
  }
}

# Everything that the checkout uses: examples and their agent stacks included.
install_dependencies() {
  is_installed .installed || run_pnpm .installed install --frozen-lockfile
}

# What the command is built from and runs with.
install_for_command() {
  if is_installed .installed || is_installed .installed-for-command; then return 0; fi
  # A complete one stays complete.
  if [ -f node_modules/.installed ]; then install_dependencies; return; fi
  run_pnpm .installed-for-command install --frozen-lockfile --prod \
    --filter codex-workspace --filter '@codex/cli...' --filter '@codex/view...'
}

is_installed() { [ -f "node_modules/$1" ] && ! [ pnpm-lock.yaml -nt "node_modules/$1" ]; }

# run_pnpm STAMP ARGUMENTS…: shows what it printed only if it fails.
run_pnpm() {
  echo "codex: installing dependencies…" >&2
  stamp=node_modules/$1
  shift
  mkdir -p .cache
  # Caches included, all of it stays in the checkout.
  npm_config_cache=$root/.cache/npm npm_config_update_notifier=false \
    npx --yes "$PNPM" "$@" --prefer-offline --store-dir "$root/.cache/pnpm/store" \
    --config.confirm-modules-purge=false --config.cache-dir="$root/.cache/pnpm/cache" \
    --config.state-dir="$root/.cache/pnpm/state" > .cache/install.log 2>&1 || { cat .cache/install.log >&2; return 1; }
  touch "$stamp"
}

# One set-up at a time, also when two commands are the first ones. A lock left behind by a killed set-up is taken over.
with_lock() {
  lock=$root/.setup-lock
  until mkdir "$lock" 2>/dev/null; do
    owner=$(cat "$lock/pid" 2>/dev/null || true)
    if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then rm -rf "$lock"; fi
    sleep 0.2
  done
  echo $$ > "$lock/pid"
  trap 'rm -rf "$lock"' EXIT
  trap 'exit 130' INT TERM
  "$@"
  rm -rf "$lock"
  trap - EXIT INT TERM
}

# Shells and programs under test write histories and configuration: never into the home of who runs the tests.
isolate_home() {
  HOME=$(mktemp -d "${TMPDIR:-/tmp}/codex-home-XXXXXX")
  export HOME
  trap 'rm -rf "$HOME"' EXIT
  trap 'exit 130' INT TERM
  unset CODEX_HOME XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME HISTFILE ZDOTDIR
}
