import { posix } from "node:path";
import { MAX_FILE_COMPARISONS } from "./limits.js";
import { plainName } from "./program-name.js";
import { hasHarmlessOutput, isUnknown } from "./unknown.js";

/** Files that shells run as scripts, by normal path. */
export interface RanFiles {
  readonly all: ReadonlySet<string>;
  /** Those whose content is not known. */
  readonly unknown: ReadonlySet<string>;
  /** What the script passes to its commands. */
  readonly texts: ReadonlySet<string>;
  /** Whether a patch is applied that is not known. */
  readonly isPatched: boolean;
}

/** Why a shell may run what is not in the script: another of its commands, `users`, may make the file. Undefined if none does. */
export function judgeRanFiles(
  { all, unknown, texts, isPatched }: RanFiles,
  users: readonly (readonly string[])[],
  written: ReadonlyMap<string, string>,
): string | undefined {
  const descriptor = [...unknown].find((path) => /\/fd\/(?!0$)/.test(path));
  if (descriptor !== undefined) return `a shell runs \`${descriptor}\`, which is known only at run time`;
  const relative = [...all].find((path) => !path.startsWith("/") && !/^[<(-]/.test(path));
  if (relative !== undefined && users.some(entersDevices))
    return `a shell runs \`${relative}\` in a directory of devices`;
  const downloaders = users.filter(([program = ""]) => DOWNLOADERS.test(plainName(program)));
  const editors = users.filter(([program = ""]) => MAKERS.test(plainName(program)));
  const started = startedBy(users);
  const comparisons = all.size * countWords(users) + started.size * countWords([...downloaders, ...editors]);
  if (comparisons > MAX_FILE_COMPARISONS) {
    return "too many files are run to compare them with what other commands may make";
  }
  const loaded = [...started].find((path) => downloaders.some((argv) => mayDownload(path, argv)));
  if (loaded !== undefined) return `\`${loaded}\` is a program that another command downloads`;
  const made = [...all].find(
    (path) =>
      (written.size > 0 && GLOB.test(path)) ||
      users.some((argv) => mayChange(path, argv) || mayDownload(path, argv) || mayMake(path, argv)),
  );
  if (made !== undefined) return `a shell runs \`${made}\`, which another command may make`;
  const own = [...unknown, ...started].filter((path) => !/^[</(-]/.test(path));
  if (isPatched && own[0] !== undefined) return `a patch that is known only at run time may make \`${own[0]}\``;
  const around = new Set([...written].flatMap(([path, text]) => (isUnknown(text) ? path.split("/") : [])));
  const isComputed = (path: string) => around.size > 0 && (GLOB.test(path) || around.has(posix.basename(path)));
  const isMoved = users.some(([program = "", ...args]) => MOVERS.test(plainName(program)) && args.some(isComputed));
  const moved = own.find((path) => isMoved || isComputed(path));
  if (moved !== undefined) return `what is in \`${moved}\` is known only at run time`;
  if (editors.some(([program = ""]) => INTERPRETERS.test(plainName(program)))) {
    const words = new Set([...texts].flatMap((text) => text.split(NAME_ENDS)));
    const named = own.find((path) => words.has(posix.basename(path)));
    if (named !== undefined) return `code in the script may write \`${named}\`, which it runs`;
  }
  // The commands of `vim` name files that it reads, too.
  const writers = editors.filter(([program = ""]) => !/^(?:ex|n?vim?)$/.test(plainName(program)));
  const program = [...started].find((path) => writers.some((argv) => mayMake(path, argv)));
  return program === undefined ? undefined : `\`${program}\` is a program which another command may make`;
}

/** Whether another program than a shell gets the name of one of these files, or there are too many to say. */
export function mayBeFed(files: ReadonlySet<string>, users: readonly (readonly string[])[]): boolean {
  if (files.size * countWords(users) > MAX_FILE_COMPARISONS) return true;
  const others = users.filter(([program = ""]) => !/^(?:\w*sh|\.|source)$/.test(program));
  const isNamed = (path: string) => (arg: string, at: number) => at > 0 && (arg === path || arg.endsWith(`=${path}`));
  return [...files].some((path) => others.some((argv) => argv.some(isNamed(path))));
}

/** Programs that are started by a path. */
const startedBy = (users: readonly (readonly string[])[]): ReadonlySet<string> =>
  new Set(users.flatMap(([path = ""]) => (path.includes("/") ? [posix.normalize(path)] : [])));

/** Whether relative paths mean descriptors after the command. */
const entersDevices = ([program = "", ...args]: readonly string[]): boolean =>
  /^(?:cd|chdir|pushd|env|ln)$/.test(plainName(program)) &&
  args.some((arg) => /(?:^|=)\/+(?:dev|proc)(?:\/|$)/.test(arg));

const READERS =
  /^(?:cat|ls|head|tail|grep|wc|stat|file|less|more|diff|cmp|echo|printf|nl|shellcheck|shfmt|git|\.|source|\w*sh|env|sudo|timeout|nohup|time|command|exec|nice|g?make|powershell)$/;

/** Whether one of these programs writes to a file that it names. */
const hasOutput = ([program = "", ...args]: readonly string[]): boolean =>
  /^(?:time|git|less)$/.test(plainName(program)) &&
  args.some((arg) => /^(?:-[a-zA-Z]*[oO].*|--output.*|--log-file.*|mailinfo|mailsplit|checkout-index)$/s.test(arg));

/** Whether a program that is started with these words may change the file that it names. */
function mayChange(path: string, argv: readonly string[]): boolean {
  const [program = "", ...args] = argv;
  if (
    (READERS.test(plainName(program)) && !hasOutput(argv)) ||
    hasHarmlessOutput(argv) ||
    posix.normalize(program) === path
  )
    return false;
  const isPacked =
    /^(?:g?unzip|uncompress|un(?:xz|zstd|lzma|lz4|brotli)|bunzip2|gzip|bzip2|xz|zstd|lz4|brotli|gpg)$/.test(
      plainName(program),
    );
  // `docker exec name sh file` runs the file itself.
  const isRun = (before = "") => CONTAINERS.test(plainName(program)) && /^(?:\.|source|\w*sh)$/.test(plainName(before));
  return args.some(
    (arg, at) =>
      !isRun(args[at - 1]) &&
      [arg.slice(arg.indexOf("=") + 1), arg.replace(/^-\w/, ""), ...(isPacked ? [arg.replace(/\.\w+$/, "")] : [])].some(
        (value) => isPath(path, posix.normalize(value)),
      ),
  );
}

const CONTAINERS = /^(?:docker|podman|nerdctl|kubectl|oc|lxc|vagrant)(?:-compose)?$/;

const DOWNLOADERS = /^(?:curl|wget|aria2c|axel)$/;

/** Whether an address among the words may name the file, or its server may. */
const mayDownload = (path: string, [program = "", ...args]: readonly string[]): boolean =>
  DOWNLOADERS.test(plainName(program)) &&
  args.some(
    (arg) => /^-\w*J|^--(?:remote-header-name|content-disposition)$/.test(arg) || isIn(posix.basename(path), arg),
  );

/** Programs that write files which their scripts, or a prefix, name. */
const INTERPRETERS = /^(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|sqlite|psql|mysql)$/;
const MAKERS = new RegExp(`^(?:g?sed|[gmn]?awk|ed|ex|n?vim?|c?split|openssl|gpg)$|${INTERPRETERS.source}`);

/** The lines that patches add to the files that they name. */
export function listPatches(
  [program = "", ...args]: readonly string[],
  input: string | undefined,
  files: ReadonlyMap<string, string>,
): string[] {
  const name = plainName(program);
  if (name !== "patch" && !(name === "git" && args.some((arg) => /^(?:apply|am|fast-import)$/.test(arg)))) return [];
  const patches = [input ?? "", ...args.flatMap((arg) => files.get(posix.normalize(arg)) ?? [])];
  return patches.map((patch) => patch.replace(/^\+/gm, ""));
}

/** Whether one of these programs may write the file. */
function mayMake(path: string, [program = "", ...args]: readonly string[]): boolean {
  const maker = plainName(program);
  if (!MAKERS.test(maker)) return false;
  if (maker.endsWith("split")) {
    const prefixes = ["x", ...args.flatMap((arg) => [arg, arg.replace(/^-(?:\w|-[\w-]+=)/, "")])];
    return GLOB.test(path) || prefixes.some((prefix) => prefix !== "" && path.startsWith(posix.normalize(prefix)));
  }
  if (maker.endsWith("sed") && args.some((arg) => arg.replace(/\s/g, "").includes(`w${path}`))) return true;
  if (/^(?:openssl|gpg)$/.test(maker))
    return args.some((arg, at) => /^-(?:o|out|-output)$/.test(args[at - 1] ?? "") && posix.normalize(arg) === path);
  return args.some((arg) => /[\s(]/.test(arg) && isIn(posix.basename(path), arg));
}

/** Programs that put files elsewhere, or into archives. */
const MOVERS = /^(?:cp|mv|ln|install|rsync|scp|tar|bsdtar|zip|7z[az]?|ar|cpio|pax|jar)$/;

/** Words of commands; a long one counts as several. */
const countWords = (commands: readonly (readonly string[])[]): number =>
  commands.reduce((count, argv) => argv.reduce((sum, word) => sum + 1 + word.length / WORD_LENGTH, count), 0);

/** UTF-16 units of a word that take about as long to compare as a short one. */
const WORD_LENGTH = 32;

const GLOB = /[*?[]/;

/** Longest name, and most stars, of which a pattern is compared. */
const MAX_NAME = 255;
const MAX_STARS = 4;

/** Whether a path is this one, or one that this pattern matches. */
function isPath(path: string, other: string): boolean {
  if (!GLOB.test(path)) return path === other;
  // Of these, the comparison would take long.
  if (other.length > MAX_NAME || path.split("*").length > MAX_STARS) return !/\s/.test(other);
  const pattern = path.replace(/\*+|\[[^\][]*\]|[\s\S]/g, (part) => {
    if (part.startsWith("*")) return "[^/]*";
    return part === "?" || part.length > 1 ? "[^/]" : part.replace(/[^\w]/, "\\$&");
  });
  return new RegExp(`^${pattern}$`).test(other);
}

const NAME_ENDS = /[^\w.+-]+/;

/** The name, not as a part of a longer one. */
const isIn = (name: string, text: string): boolean =>
  text.split(NAME_ENDS).some((word) => word !== "" && isPath(name, word));
