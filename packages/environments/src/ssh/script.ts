import { INSTALLER } from "./installer.js";

/** Where Node is searched for after `PATH`, which is short in ssh commands. Shell words. */
const PLACES = [
  '"$HOME"/.nvm/versions/node/*/bin/node',
  '"$HOME"/.local/share/fnm/node-versions/*/installation/bin/node',
  '"$HOME"/.local/share/mise/installs/node/*/bin/node',
  '"$HOME"/.asdf/installs/nodejs/*/bin/node',
  '"$HOME"/.volta/bin/node',
  '"$HOME"/.local/bin/node',
  ...["/usr/local/bin/node", "/opt/homebrew/bin/node", "/usr/bin/node", "/opt/node*/bin/node", "/snap/bin/node"],
];

/** The same, for messages. */
export const NODE_PLACES =
  "PATH, a login shell, ~/.nvm, fnm, mise, asdf, volta, ~/.local/bin, /usr/local, /opt and /usr";

/** Exits with 0 if this Node is new enough. */
const IS_NEW_ENOUGH =
  'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)';

/**
 * The script that a shell on the remote side reads from its stdin: finds Node and starts the installer, which becomes the bridge to the
 * server. A file names the Node that was used last, which is not searched for again if it is still one of those that are looked for. It
 * reports in lines of `mark`, a word and arguments. It is a function, so that the shell reads all of it before
 * it runs any of it: what follows on stdin is for the bridge.
 * @param id id of the bundle
 * @param digests of the bundle for each host
 * @param places directories in which Node is searched for in addition to `PATH`
 */
export const createScript = (
  id: string,
  mark: string,
  digests: readonly string[],
  places: readonly string[] = PLACES,
): string => `m() {
umask 077
d="\${XDG_CACHE_HOME:-$HOME/.cache}/codex-ts/${id}"
u=
[ -O "$d" ] && [ -f "$d/node" ] && read -r u < "$d/node"
r() { exec "$1" -e '${INSTALLER}' "$d" '${mark}' "$1" ${digests.join(" ")}; }
for n in "$(command -v node 2>/dev/null)" ${places.join(" ")}; do
  [ -n "$n" ] && [ "$n" = "$u" ] && [ -x "$n" ] && r "$n"
done
o=
for n in "$(command -v node 2>/dev/null)" ${places.join(" ")} "$("\${SHELL:-/bin/sh}" -lc 'command -v node' 2>/dev/null </dev/null | tail -n 1)"; do
  [ -x "$n" ] || continue
  if "$n" -e '${IS_NEW_ENOUGH}' </dev/null >/dev/null 2>&1; then
    r "$n"
  fi
  o="$o $n ($("$n" -p process.versions.node </dev/null 2>/dev/null))"
done
printf '\\n%s nonode %s\\n' '${mark}' "$o"
exit 92
}
m
`;
