import { MAX_REST_WORDS } from "./limits.js";
import { type NestedCommand, toCommand, toScript, toSuffixes } from "./nested-commands.js";

/**
 * Commands in options of programs that are not wrappers, such as a proxy of `ssh` or a pager of `man`. Only counted
 * against a command. Programs with a language of their own (`awk`, `python -c`, `sed`) are not read.
 */
export function listOptionCommands(name: string, args: readonly string[]): NestedCommand[] {
  const find = OPTION_COMMANDS.get(name);
  if (find === undefined) return [];
  let read = 0;
  const carried = args.flatMap((arg, at) =>
    find(arg, args[at + 1], () => {
      read += args.length - at;
      return read > MAX_REST_WORDS ? [] : args.slice(at + 1);
    }),
  );
  return [...carried.map(toInner), ...(read > MAX_REST_WORDS ? toSuffixes(args) : [])];
}

/** A script, or words that are a command. */
type OptionCommand = string | readonly string[];

export const toInner = (carried: OptionCommand): NestedCommand =>
  typeof carried === "string" ? toScript(carried) : toCommand(carried);

/** Finds the commands in an argument, the one after it, or all after it. */
export type FindOptionCommands = (
  arg: string,
  next: string | undefined,
  rest: () => readonly string[],
) => OptionCommand[];

/** Options whose value is a script, attached or the next argument; letters may be clustered, and names cut short. */
export const valuesOf =
  (letters: string, names = "") =>
  (arg: string, next = ""): string[] => {
    const [name = "", ...value] = arg.split("=");
    const isNamed = names !== "" && name.length > 3 && names.split(" ").some((each) => `--${each}`.startsWith(name));
    if (isNamed) return [value.length > 0 ? value.join("=") : next];
    const attached = letters === "" ? undefined : new RegExp(`^-[a-zA-Z0-9]*?[${letters}](.*)$`, "s").exec(arg)?.[1];
    if (attached === undefined) return [];
    return attached === "" ? [next] : [attached, next];
  };

/** Options after which everything is the command. */
const restOf =
  (option: RegExp): FindOptionCommands =>
  (arg, _next, rest) =>
    option.test(arg) ? [rest()] : [];

const inEither =
  (...finders: FindOptionCommands[]): FindOptionCommands =>
  (arg, next, rest) =>
    finders.flatMap((find) => find(arg, next, rest));

const SSH_COMMANDS = /^\s*(?:proxycommand|localcommand|remotecommand|knownhostscommand)[\s=]+(.+)$/is;

const sshOptions: FindOptionCommands = (arg, next) =>
  valuesOf("o")(arg, next).flatMap((setting) => SSH_COMMANDS.exec(setting)?.[1]?.replace(/^["=]|"$/g, "") ?? []);

/** `+!command`, and the value of `-c` with a `!` or `system("…")` in it. */
const editorCommands: FindOptionCommands = (arg, next = "") =>
  [
    arg.startsWith("+") ? arg.slice(1) : "",
    ...(/^(?:-c|--cmd|-S|-e|--?i?ex|--?(?:init-)?eval-command)$/.test(arg) ? [next] : []),
  ].flatMap((text) => [
    ...(/!\s*(.+)$/s.exec(text)?.slice(1, 2) ?? []),
    ...[...text.matchAll(/(?:system|systemlist|term_start|job_start|terminal|term)\b[\s(]*["']?([^"')]+)/g)].map(
      (found) => found[1] ?? "",
    ),
    ...(/^\s*(?:shell|sh|make|python\s.*system\()\s+(.+)$/s.exec(text)?.slice(1, 2) ?? []),
  ]);

/** `\! command`, `.shell command` and `.system command` of database clients. */
const clientCommands: FindOptionCommands = (arg) =>
  [...arg.matchAll(/(?:\\!|(?:^|\n)[^\S\n]*(?:!|\.(?:sh?|she|shel|shell|sy\w*)\s)|\bsystem\s)\s*([^\n;]+)/g)].map(
    (found) => found[1] ?? "",
  );

const TAR_LONG = "to-command use-compress-program rsh-command rmt-command info-script new-volume-script";

const tarCommands: FindOptionCommands = inEither(
  valuesOf("IF", TAR_LONG),
  (arg, next) =>
    valuesOf("", "checkpoint-action")(arg, next).flatMap((action) => /^exec=(.+)$/s.exec(action)?.[1] ?? []),
  // Old-style options are a first word without a dash, followed by their values.
  (arg, _next, rest) =>
    arg.length > 1 && arg.length < 8 && /^[a-zA-EGHJ-Z]*[IF][a-zA-Z]*$/.test(arg) ? [...rest()] : [],
);

const makeCommands: FindOptionCommands = (arg, next = "") => [
  ...(/^\.?(?:SHELL|CC|CXX|AR|LD|AS|MAKE)\s*[:?+]*=(.+)$/s.exec(arg)?.slice(1, 2) ?? []),
  ...((arg === "--eval" ? next : /^--eval=(.*)$/s.exec(arg)?.[1])?.split(/[;\n\t]\s*[@+-]*/) ?? []),
  ...[...arg.matchAll(/\$\(shell\s([^)]*)|[:\w]!=\s*(.+)/g)].map((found) => found[1] ?? found[2] ?? ""),
];

/** Settings of package managers, many of which name programs: `Dir::Bin::dpkg`, `DPkg::Pre-Invoke`, `Acquire::http::ProxyAutoDetect`. */
const aptOptions: FindOptionCommands = (arg, next) =>
  valuesOf("o", "option")(arg, next).map((setting) =>
    setting.replace(/^=?[^=]*=/, "").replace(/^[{\s"]+|(?<!["\s;}])["\s;}]+$/g, ""),
  );

/** `program#source` of a FUSE file system. */
const fuseSource: FindOptionCommands = (arg) => /^([^#]+)#/s.exec(arg)?.slice(1, 2) ?? [];

/** `EXEC:command` and `SYSTEM:command` in an address. */
const socatAddress: FindOptionCommands = (arg) =>
  /(?:^|!!)(?:exec|system|shell):([^!]+)/i
    .exec(arg)
    ?.slice(1, 2)
    .map((text) => text.replace(/,(?:[a-z-]+(?:=[^,]*)?)$/g, "")) ?? [];

/** `e command`, and the replacement of `s/…/command/e`. */
const sedCommands: FindOptionCommands = (arg) => [
  ...[...arg.matchAll(/(?:(?:^|[\s;{}\d$/!])e\s+|[;{}\d$]e)([^\n}]+)/g)].map((found) => found[1] ?? ""),
  ...[...arg.matchAll(/s([^\w\s])(?:(?!\1).)*\1((?:(?!\1).)*)\1\w*e/gs)].map((found) => found[2] ?? ""),
];

/** `pkg set scripts.x=…` and `config set script-shell …`, which a later `npm run` runs. */
const npmSettings: FindOptionCommands = (arg, next = "") => [
  ...(/^scripts[.[][^=]*=(.+)$/s.exec(arg)?.slice(1, 2) ?? []),
  ...(/^(?:script-shell|editor|viewer|browser|git)$/.test(arg) ? [next] : []),
  ...(/^(?:script-shell|editor|viewer|browser|git)=(.+)$/s.exec(arg)?.slice(1, 2) ?? []),
];

/** `alias set x '!command'`, also with `--shell`, and settings whose value is a program. */
const forgeSettings: FindOptionCommands = (arg, next, rest) =>
  /^(?:alias|config)$/.test(arg) && next === "set"
    ? rest()
        .slice(1)
        .map((each) => each.replace(/^!/, ""))
    : [];

const OPTION_COMMANDS: ReadonlyMap<string, FindOptionCommands> = new Map(
  Object.entries<FindOptionCommands>({
    ssh: sshOptions,
    autossh: sshOptions,
    sftp: inEither(sshOptions, valuesOf("SD")),
    scp: inEither(sshOptions, valuesOf("SD")),
    rsync: valuesOf("e", "rsh rsync-path"),
    tar: tarCommands,
    gtar: tarCommands,
    bsdtar: tarCommands,
    make: makeCommands,
    gmake: makeCommands,
    man: valuesOf("PH", "pager html"),
    vi: editorCommands,
    vim: editorCommands,
    nvim: editorCommands,
    view: editorCommands,
    ex: editorCommands,
    gvim: editorCommands,
    vimdiff: editorCommands,
    less: editorCommands,
    more: editorCommands,
    gdb: inEither(
      editorCommands,
      restOf(/^--?args$/),
      (arg) => /^--?(?:i?ex|(?:init-)?eval-command)=\s*(?:shell|!)\s*(.+)$/s.exec(arg)?.slice(1, 2) ?? [],
    ),
    lldb: inEither(editorCommands, restOf(/^--$/)),
    npx: valuesOf("c", "call"),
    npm: inEither(valuesOf("c", "call script-shell editor viewer browser git"), npmSettings),
    pip: valuesOf("", "python editor"),
    pip2: valuesOf("", "python editor"),
    pip3: valuesOf("", "python editor"),
    mypy: valuesOf("", "python-executable"),
    uv: valuesOf("p", "python"),
    uvx: valuesOf("p", "python"),
    gem: valuesOf("e", "editor"),
    helm: valuesOf("", "post-renderer"),
    cloc: valuesOf("", "extract-with vcs"),
    cpio: valuesOf("", "rsh-command"),
    cvs: valuesOf("e"),
    flatpak: valuesOf("", "command"),
    gh: forgeSettings,
    glab: forgeSettings,
    sed: sedCommands,
    rg: valuesOf("", "pre hostname-bin"),
    ag: valuesOf("", "pager"),
    ack: valuesOf("", "pager"),
    bat: valuesOf("", "pager"),
    delta: valuesOf("", "pager"),
    hg: inEither(valuesOf("ep", "ssh remotecmd program"), (arg, next) =>
      valuesOf("", "config")(arg, next).map((setting) => setting.replace(/^[^=]*=!?/, "")),
    ),
    ctest: restOf(/^--test-command$/),
    svn: inEither(valuesOf("", "editor-cmd diff-cmd diff3-cmd merge-tool"), (arg, next) =>
      valuesOf("", "config-option")(arg, next).map((setting) => setting.replace(/^[^=]*=/, "")),
    ),
    pnpm: valuesOf("c", "shell-mode"),
    sort: valuesOf("", "compress-program"),
    split: valuesOf("", "filter"),
    csplit: valuesOf("", "filter"),
    install: valuesOf("", "strip-program"),
    zip: inEither(valuesOf("", "unzip-command"), (arg, next = "") => (arg === "-TT" ? [next] : [])),
    sqlite3: clientCommands,
    psql: clientCommands,
    mysql: clientCommands,
    lftp: clientCommands,
    ftp: clientCommands,
    dpkg: valuesOf("", "pre-invoke post-invoke status-logger"),
    "dbus-run-session": valuesOf("", "dbus-daemon"),
    apt: aptOptions,
    "apt-get": aptOptions,
    "apt-cache": aptOptions,
    "apt-config": aptOptions,
    "apt-mark": aptOptions,
    mount: fuseSource,
    "mount.fuse": fuseSource,
    "mount.fuse3": fuseSource,
    aptitude: aptOptions,
    socat: socatAddress,
    nc: valuesOf("ec", "exec sh-exec"),
    ncat: valuesOf("ec", "exec sh-exec"),
    netcat: valuesOf("ec", "exec sh-exec"),
    tcpdump: valuesOf("z"),
    strace: (arg, next) => valuesOf("o", "output")(arg, next).flatMap((file) => /^[|!]\s*(.+)$/s.exec(file)?.[1] ?? []),
    "start-stop-daemon": (arg, next = "", rest) => {
      const attached = /^(?:-[A-Zb-wyz]*[xa]|--(?:e|exe|exec|sta\w*)=)(.+)$/s.exec(arg)?.[1];
      if (attached === undefined && !/^(?:-\w*[xa]|--(?:e|exe|exec|sta.*))$/.test(arg)) return [];
      const others = rest();
      const end = others.indexOf("--");
      return [[attached ?? next, ...(end === -1 ? [] : others.slice(end + 1))]];
    },
    capsh: (arg, _next, rest) => {
      if (arg === "--" || arg === "-+") return [["bash", ...rest()]];
      const shell = /^--shell=(.+)$/s.exec(arg)?.[1];
      if (shell === undefined) return [];
      const others = rest();
      return [[shell, ...others.slice(others.findIndex((each) => /^-[-+]$/.test(each)) + 1)]];
    },
    cargo: valuesOf("sx", "shell exec"),
    cmake: restOf(/^-E$/),
    docker: valuesOf("", "entrypoint health-cmd"),
    podman: valuesOf("", "entrypoint health-cmd"),
    vagrant: valuesOf("c", "command"),
    gcloud: valuesOf("", "command"),
    "nix-shell": valuesOf("", "run command"),
    nix: restOf(/^(?:-c|--command)$/),
    watchexec: valuesOf("", "exec"),
    nodemon: valuesOf("x", "exec"),
    hyperfine: valuesOf("psc", "prepare setup cleanup conclude"),
    xterm: restOf(/^-e$/),
    urxvt: restOf(/^-e$/),
    openssl: (arg) => /^exec:(.+)$/s.exec(arg)?.slice(1, 2) ?? [],
    wget: valuesOf("", "use-askpass"),
    agetty: valuesOf("l", "login-program"),
    logrotate: valuesOf("m", "mail"),
    "systemd-run": (arg, next) =>
      valuesOf("p", "property")(arg, next).flatMap((each) => /^Exec\w+=[-@:+!|]*(.+)$/s.exec(each)?.[1] ?? []),
  }),
);
