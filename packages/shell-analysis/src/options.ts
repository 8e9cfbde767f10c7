/** The options of a program, as passed to `getopt_long`. */
export interface OptionTable {
  /** Letters; `:` after one that takes a value, `::` after one whose value can only be attached. */
  readonly short?: string;
  /** Names, separated by spaces; `=` after one that takes a value, `?` after one whose value can only be attached. */
  readonly long?: string;
}

/** Options in front of operands, as the program reads them. */
export interface ReadOptions {
  /** Index of the first argument that is not an option. */
  readonly end: number;
  /** In their order; `name` is without dashes, and not abbreviated. */
  readonly values: readonly { readonly name: string; readonly value: string }[];
  readonly flags: readonly string[];
  /** Index of the first option that is not in the table; from there on nothing is certain. */
  readonly unknown: number | undefined;
}

export interface ReadOptionsSettings {
  /** Arguments to skip, such as assignments. */
  readonly isSkipped?: ((arg: string) => boolean) | undefined;
  /** A single dash is an option, and does not end them. */
  readonly hasDash?: boolean | undefined;
}

/** Reads options up to the first operand, or past `--`. */
export function readOptions(
  table: OptionTable,
  args: readonly string[],
  settings: ReadOptionsSettings = {},
): ReadOptions {
  const values: { name: string; value: string }[] = [];
  const flags: string[] = [];
  let unknown: number | undefined;
  let end = 0;
  for (; end < args.length; end += 1) {
    const arg = args[end] ?? "";
    if (arg === "--") {
      end += 1;
      if (settings.isSkipped !== undefined) while (end < args.length && settings.isSkipped(args[end] ?? "")) end += 1;
      break;
    }
    if (settings.isSkipped?.(arg) === true || (arg === "-" && settings.hasDash === true)) continue;
    if (!/^-./s.test(arg)) break;
    const read = arg.startsWith("--") ? readLong(table.long ?? "", arg) : readShort(table.short ?? "", arg);
    flags.push(...read.flags);
    if (read.isUnknown) unknown ??= end;
    if (read.name === undefined) continue;
    if (read.value === undefined) end += 1;
    values.push({ name: read.name, value: read.value ?? args[end] ?? "" });
  }
  return { end: Math.min(end, args.length), values, flags, unknown };
}

/** If `name` is set, the option takes a value; if `value` is not set, that is the next argument. */
interface ReadOption {
  readonly flags: readonly string[];
  readonly name?: string | undefined;
  readonly value?: string | undefined;
  readonly isUnknown: boolean;
}

function readShort(letters: string, arg: string): ReadOption {
  const flags: string[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg[at] ?? "";
    const found = letter === ":" ? -1 : letters.indexOf(letter);
    if (found === -1) return { flags, isUnknown: true };
    const rest = arg.slice(at + 1);
    if (letters[found + 1] !== ":") flags.push(letter);
    else if (letters[found + 2] === ":") return { flags, name: letter, value: rest, isUnknown: false };
    else return { flags, name: letter, value: rest === "" ? undefined : rest, isUnknown: false };
  }
  return { flags, isUnknown: false };
}

/** GNU programs accept every unambiguous prefix of a name. */
function readLong(names: string, arg: string): ReadOption {
  const equals = arg.indexOf("=");
  const name = equals === -1 ? arg.slice(2) : arg.slice(2, equals);
  const attached = equals === -1 ? undefined : arg.slice(equals + 1);
  const found = findLong(names, name);
  if (found === undefined) return { flags: [], isUnknown: true };
  const kind = found.at(-1);
  if (kind === "=") return { flags: [], name: found.slice(0, -1), value: attached, isUnknown: false };
  if (kind === "?") return { flags: [], name: found.slice(0, -1), value: attached ?? "", isUnknown: false };
  return { flags: [found], isUnknown: false };
}

function findLong(names: string, name: string): string | undefined {
  const known = `${names} help version`.split(" ");
  const exact = known.find((each) => each.replace(/[=?]$/, "") === name);
  if (exact !== undefined) return exact;
  const candidates = name === "" ? [] : known.filter((each) => each.startsWith(name));
  return candidates.length === 1 ? candidates[0] : undefined;
}
