import { closeSync, writeSync } from "node:fs";
import { openUnnamed } from "@codex/exec-backend";
import { MARK_S } from "@codex/sandbox";

/** The file that lists placeholders of sandboxes, and names to keep free, for the guard's shell, one per line. */
export interface PlaceholderList {
  /** Creates a new file. Returns a descriptor to read it, which the caller closes; undefined if it cannot be created anywhere. */
  open(directories: readonly string[]): number | undefined;
  /** Counted: call `remove` as often. */
  add(path: string): void;
  remove(path: string): void;
  close(): void;
}

/** One path, padded with line feeds; the next sandbox removes placeholders with longer paths. */
const SLOT_BYTES = 4_096;

/** The line for a name that must stay free, in place of that of a placeholder. */
export const toFreeLine = (path: string): string => `${FREE}${path}`;
const FREE = "-";

/**
 * Removes the placeholders listed on descriptor 4 that are not locked, that are empty and that have the modification time of a
 * placeholder. Moves aside what is at listed names to keep free, and the HEAD of a directory that was made a git directory. The processes
 * in `$inits` have to be gone first: a path stays reserved while its sandbox runs.
 */
export const REMOVE_PLACEHOLDERS = `is_marked() {
  [ "$(stat -c %Y "$name")" = ${MARK_S} ]
}
remove_placeholder() {
  command -v flock >/dev/null && is_marked || return
  if [ -d "$name" ]; then flock -nx "$name" rmdir "$name"; else flock -nx "$name" rm "$name"; fi
}
move_aside() {
  [ -e "$1" ] || [ -L "$1" ] || return
  aside=$1-from-sandbox-$$
  while [ -e "$aside" ] || [ -L "$aside" ]; do aside=$aside-; done
  mv "$1" "$aside"
}
clear_name() {
  directory=\${name%/*}
  [ -w "$directory" ] && [ -x "$directory" ] || chmod u+wx "$directory"
  [ -d "$name" ] && [ -z "$(ls -A "$name")" ] && is_marked && return
  move_aside "$name"
  [ -f "$directory/commondir" ] || { [ -e "$directory/objects" ] && [ -e "$directory/refs" ]; } || return
  move_aside "$directory/HEAD"
}
for pid in $inits; do
  tries=0
  while read -r line <"/proc/$pid/stat"; do
    case \${line##*) } in Z*|X*) break ;; esac
    tries=$((tries + 1))
    [ $tries -lt 500 ] || exit
    sleep 0.01
  done
done 2>/dev/null
grep -a . <&4 | while IFS= read -r name; do
  case $name in
    ${FREE}/*/.git) name=\${name#?}; clear_name ;;
    /*) remove_placeholder ;;
  esac
done 2>/dev/null`;

export function createPlaceholderList(): PlaceholderList {
  const places = new Map<string, { slot: number; count: number }>();
  const free: number[] = [];
  let used = 0;
  let file: number | undefined;
  const write = (slot: number, text: string) => {
    if (file === undefined) return;
    try {
      // A torn write does no harm: only paths of placeholders are removed, and only a `.git` is moved.
      writeSync(
        file,
        Buffer.from(text.padEnd(SLOT_BYTES - Buffer.byteLength(text) + text.length, "\n")),
        0,
        SLOT_BYTES,
        slot * SLOT_BYTES,
      );
    } catch {
      // The disk is full: the next sandbox there removes it.
    }
  };
  const close = () => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  return {
    open(directories) {
      close();
      for (const directory of directories) {
        try {
          const opened = openUnnamed(directory);
          file = opened.file;
          for (const [path, { slot }] of places) write(slot, path);
          return opened.reader;
        } catch {
          // The next directory may work.
        }
      }
      return undefined;
    },
    add(path) {
      const place = places.get(path);
      if (place !== undefined) place.count += 1;
      else if (Buffer.byteLength(path) < SLOT_BYTES && !path.includes("\n")) {
        const slot = free.pop() ?? used++;
        places.set(path, { slot, count: 1 });
        write(slot, path);
      }
    },
    remove(path) {
      const place = places.get(path);
      if (place === undefined) return;
      place.count -= 1;
      if (place.count > 0) return;
      places.delete(path);
      free.push(place.slot);
      write(place.slot, "");
    },
    close,
  };
}
