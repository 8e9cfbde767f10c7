import { RUNNERS } from "@codex/shell-analysis/programs";

/** One way in which a program runs something that its arguments name. */
export interface RunnerForm {
  /** Subcommand words; empty where the program runs its operands directly. */
  readonly phrase: readonly string[];
  /** Operands between the subcommand and what is run, such as an image. */
  readonly before: number;
  /**
   * `program`: the words that follow are a command. `named`: the next operand names it, such as a target or a file; what
   * follows it are arguments. `code`: any of the arguments may be code or the name of a program.
   */
  readonly runs: "program" | "named" | "code";
}

/**
 * Every form of a program that runs others; `name` is in lower case, without version. A program that is not in `FORMS`
 * runs a command after its words in `RUNNERS`. Undefined for any other program.
 */
export function getRunnerForms(name: string): readonly RunnerForm[] | undefined {
  const text = LOADER.test(name) ? "" : (FORMS.get(name) ?? RUNNERS.get(name)?.join("|").replaceAll("*", ""));
  return text?.split("|").map(parseForm);
}

/** Dynamic loaders and emulators: they run the file that they are given. */
const LOADER = /^(?:ld(?:-[\w-]+)?\.so(?:\.\d+)?|qemu-(?!img|io|nbd|system|storage|ga)[\w-]+)$/;

/** `exec +1` or `run :named`; see `FORMS`. */
function parseForm(text: string): RunnerForm {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const before = words.find((word) => /^\+\d$/.test(word));
  const runs = words.find((word) => word.startsWith(":"))?.slice(1);
  return {
    phrase: words.filter((word) => !/^[+:]/.test(word)),
    before: before === undefined ? 0 : Number(before.slice(1)),
    runs: runs === "named" || runs === "code" ? runs : "program",
  };
}

/** The same form for several programs. */
const all = (names: string, form: string): [string, string][] => names.split(" ").map((name) => [name, form]);

/** Subcommands that run what their operand names. */
const named = (subcommands: string): string =>
  subcommands
    .split(" ")
    .map((one) => `${one} :named`)
    .join(" | ");

/** Forms are separated by `|`: subcommand words, `+N` operands before what is run, `:named` or `:code` for other than a program. */
const FORMS: ReadonlyMap<string, string> = new Map([
  // Environments and build tools of languages.
  ["uv", "run | tool run | x"],
  ...all("poetry pipenv hatch", "run | shell | env run | env use :code"),
  ...all("pdm rye mamba volta", "run"),
  ["pipx", "run | runpip"],
  ...all("conda micromamba", "run | activate | shell"),
  ...all("pixi asdf rtx mise", "run :named | r :named | exec | x | shell | env +1"),
  ...all("pyenv rbenv nodenv fnm", "exec | run | shell"),
  ["nvm", "exec +1 | run +1"],
  ["packer", "build :named"],
  ["helm", "plugin install :named"],
  ["clickhouse", "local :code | client :code"],
  ...all("chef-client chef-solo cinc-client", ":named"),
  ["proto", "run | x"],
  [
    "npm",
    `exec | x | explore +1 | config :code | set :code | c :code | ${named("run run-script rum urn init create innit")}`,
  ],
  ...all(
    "yarn pnpm",
    `${named("run run-script create init node")} | exec | dlx | workspace +1 | recursive exec | recursive run :named | workspaces foreach | workspaces run | config :code | :named`,
  ),
  ["bun", "run :named | x | exec :code | repl :code | create :named | :named"],
  ["deno", "run :named | x | eval :code | repl :code | task :named | serve :named | jupyter :code | :named"],
  ...all("lerna nx turbo rush", "exec | run :named | run-many :code | :named"),
  ...all("bundle bundler", "exec | e | console :code"),
  ["rails", "runner :code | r :code | console :code | c :code | :named"],
  ["go", "run :named | generate :code | tool :named"],
  ["cargo", "script :named | watch :code"],
  ["rustup", "run +1"],
  ["dotnet", "tool run :named | watch | msbuild :code | run :named | exec :named | script :named | fsi :code | :named"],
  ["stack", "exec | runghc :named | run :named | script :named | ghci :code | eval :code"],
  ["cabal", "exec | run :named | repl :code"],
  ...all("opam dune", "exec | utop :code"),
  ["mix", "run :named | eval :code | cmd :code | do :code | :named"],
  ["composer", "exec | run-script :named | run :named"],
  ...all("mvn mvnw", "exec:java :code | exec:exec :code | :named"),
  ["swift", "run :named | repl :code | package plugin :named | :named"],
  ["zig", "run :named | test :named | build :named"],
  ...all("dart flutter", "run :named | pub run :named | :named"),
  ...all(
    "nix guix",
    "run :named | shell :code | develop :code | environment :code | eval :code | repl :code | build :code",
  ),
  ...all("bazel bazelisk buck buck2 pants", "run :named"),
  ["coverage", "run :named"],
  ["jupyter", "run :named | console :code | execute :named | :named"],
  ...all("ansible ansible-console salt pdsh dsh hg bwrap nsjail proot systemd-nspawn", ":code"),
  // Targets and tasks.
  ...all(
    "make gmake bmake pmake remake tup redo hivemind rackup mk ninja samu just task rake thor invoke inv fab gulp grunt jake mage ant",
    ":named",
  ),
  ...all(
    "gradle gradlew sbt lein boot scons waf doit nox earthly ansible-playbook act fastlane snakemake msbuild rebar3",
    ":named",
  ),
  // Containers, hosts and clusters.
  ...all(
    "docker podman nerdctl",
    "run +1 | exec +1 | create +1 | debug +1 | container run +1 | container exec +1 | container create +1 | sandbox run +1 | compose run +1 | compose exec +1 | machine ssh +1 | unshare",
  ),
  ...all("docker-compose podman-compose", "run +1 | exec +1"),
  ...all(
    "kubectl oc k3s microk8s minikube",
    "exec +1 | run +1 | debug +1 | rsh +1 | attach +1 | kubectl | ssh | plugin",
  ),
  ...all("crictl runc crun buildah apptainer singularity enroot", "exec +1 | run +1 | start +1 | shell :code"),
  ["ch-run", "+1"],
  ["ctr", "run +2 | tasks exec +1 | task exec +1"],
  ...all("lxc incus multipass limactl", "exec +1 | shell +1 | console :code"),
  ...all("lxc-attach lxc-execute flatpak-spawn", ":code"),
  ["vagrant", "ssh :code | powershell :code"],
  ...all("distrobox toolbox", "enter :code | run :code"),
  ...all("flatpak snap", "run :named"),
  ["machinectl", "shell :code | login :code"],
  ["adb", "shell | exec-out | exec-in"],
  ["heroku", "run | local :code | local:run | ps:exec :code"],
  ["tox", "exec :code | :named"],
  ["nim", "r :named | e :named | :named"],
  ["node", "inspect :named | debug :named | :named"],
  ["lake", "exe :named | env | script run :named"],
  ["flask", "shell :code"],
  ...all("scala-cli wasmtime wasmer tsx v nextflow", "run :named | watch :named | :named"),
  ["crystal", "eval :code | run :named | :named"],
  ["brew", "sh :code | ruby :code | irb :code | prof :code"],
  ["jj", "util exec"],
  ["firebase", "emulators:exec :code"],
  ["netlify", "dev:exec | dev :named"],
  ["gem", "exec | open :code"],
  ["php", "artisan tinker :code | artisan :named | :named"],
  ...all(
    "fly flyctl",
    "ssh :code | console :code | machine exec :code | execute :code | hijack :code | intercept :code",
  ),
  ["gcloud", "compute ssh :code | cloud-shell ssh :code"],
  ["aws", "ssm start-session :code | ssm send-command :code | ecs execute-command :code | configure :code"],
  ["gh", "extension exec | codespace ssh :code | cs ssh :code | alias :code | config :code"],
  ...all("mosh et", "+1"),
  ["tsh", "ssh +1"],
  ["az", "vm run-command :code | ssh :code | container exec :code | webapp ssh :code"],
  ["consul", "lock +1 | exec :code | watch :code"],
  ["etcdctl", "watch :code | exec-watch :code | lock +1"],
  // Programs that run a command with an environment, limits, secrets or measurements.
  ...all(
    "npx pnpx bunx uvx ssh-agent gpg-agent dbus-launch startx xinit catchsegv eatmydata faketime nodemon watchexec reflex",
    "",
  ),
  ...all(
    "hyperfine valgrind heaptrack rr chpst softlimit with-contenv cygstart rundll32 regsvr32 daemonize run-one",
    "",
  ),
  ...all("chronic env-cmd cross-env concurrently run-s run-p mpirun mpiexec srun wine mono java", ""),
  ...all("gdbserver start-stop-daemon corepack wsl lima envconsul", ""),
  ["dotenv", "run | "],
  ["rr", "record | replay :code | "],
  ["perf", "record | stat | trace | script :code"],
  ...all("direnv chamber aws-vault aws-okta", "exec +1"),
  ...all("op doppler infisical teller dotenvx", "run"),
  ...all("envchain envdir setuidgid s6-setuidgid", "+1"),
  ...all(
    "gunicorn uwsgi celery forever supervisord hypercorn uvicorn daphne spark-submit guard deepspeed viztracer scalene kernprof pyinstrument debugpy",
    ":named",
  ),
  ...all("scl duckdb sqlplus clickhouse-client forfiles conhost scriptrunner", ":code"),
  ["sops", "exec-env :code | exec-file :code"],
  ...all(
    "nyc c8 0x clinic schroot arch-chroot s6-env chainload foreground background psexec winrs bear ccache sccache distcc icecc box64 box86 multitime dtruss withlock keep-one-running retry backoff",
    "",
  ),
  ...all("annotate-output summon shdotenv with-env godotenv esy salloc horovodrun condor_run drmemory xcrun", ""),
  ...all("wait-for-it wait-for dockerize onchange kcov", "+1"),
  ...all("mispipe pee start-server-and-test start-test afl-fuzz honggfuzz watchman-make boundary assume wmic", ":code"),
  ["simctl", "spawn +1"],
  ["gopass", "env +1"],
  ["borg", "with-lock +1"],
  ["flox", "activate :code"],
  ["py-spy", "record | top"],
  ["uftrace", "record | live"],
  ["trace-cmd", "record :code"],
  ["pulumi", "env run +1"],
  ["ray", "submit :named | job submit :code | exec :code"],
  ["dvc", "run :code | stage add :code | exp run :code | repro :named"],
  ["gum", "spin"],
  // Agents do what a text asks for.
  ...all("claude gemini aider opencode cursor-agent goose", ":code"),
  ["codex", "exec :code | e :code | run | sandbox"],
  ["pm2", "start :named | exec :code | deploy :code"],
  ["ip", "netns exec +1 | vrf exec +1"],
  // Commands that run later, or in another session.
  ...all("tmux screen byobu zellij crontab at batch launchctl schtasks cgexec", ":code"),
  ["systemctl", "edit :code | link :code | enable :code | set-property :code | set-environment :code"],
  // Supervisors, servers and chains of small programs.
  ...all("runsv runsvdir s6-supervise supervise s6-svscan svscan svlogd crond inetd xinetd anacron", ":named"),
  ...all("multilog foreground background ifelse forx loopwhilex backtick pipeline redirfd fdmove", ":code"),
  ...all("fghack pgrphack s6-fghack s6-setsid s6-nice s6-applyuidgid s6-softlimit s6-ioconnect openvt", ""),
  ...all("envuidgid s6-envdir s6-setlock s6-sudo s6-ipcclient s6-notifyoncheck arch-chroot faketime chruby-exec", "+1"),
  ...all("tcpserver tcpclient sslserver sslclient s6-tcpserver s6-tcpclient s6-tlsclient s6-tlsserver", "+2"),
  // Terminals, measurements and recorders of builds.
  ...all("nocache poop ledit termtosvg compiledb intercept-build scan-build cov-build autoexpect dvtm mtm", ""),
  ...all("mprocs rerun libtool tilix terminator", ""),
  ["wezterm", "start | ssh :code | cli spawn :code"],
  ["kitty", ":code"],
  // Others.
  ["n", "run +1 | exec +1 | use +1"],
  ["lein", "exec :code | run :named | repl :code | trampoline :code | update-in :code | :named"],
  ["drush", "php:eval :code | php-eval :code | ev :code | eval :code | php:script :named | scr :named | php:cli :code"],
  ["wp", "eval :code | eval-file :named | shell :code"],
  ["r", "CMD BATCH :named | CMD :named | :named"],
  ["vcsh", "run +1 | enter :code"],
  ["chezmoi", "execute-template :code | cd :code | edit :code | merge :code"],
  ["gita", "super :code | shell :code"],
  ["vault", "agent :code | ssh :code"],
  ["pbuilder", "execute :named | login :code"],
  ["hadoop", "jar :named"],
  ["plink", "+1"],
  ...all("sbuild-shell", "+1"),
  ["udocker", "run +1"],
  ...all("gtk-launch dex exo-open mimeopen run-mailcap procmail vhs", ":named"),
  ...all("clush consul-template sshfs gs blender gimp inkscape soffice formail getty telnetd in.telnetd pig", ":code"),
  // In any position, options or operands can be code or name a program.
  ...all("sed gsed ssed find gfind fd fdfind m4 ed ex vi vim view nvim emacs emacsclient less more man", ":code"),
  ...all(
    "redis-cli fzf sk virsh virt-customize guestfish puppet salt-call psql mysql mariadb sqlite3 sqlite mongosh mongo gnuplot octave matlab ftp lftp sftp nc ncat socat",
    ":code",
  ),
  ...all(
    "rsync scp tar gtar bsdtar zip xdotool jshell dc rg sort telnet run-parts logrotate xdg-open open cscript wscript mshta",
    ":code",
  ),
  [
    "git",
    "bisect run | submodule foreach :code | config :code | difftool :code | mergetool :code | filter-branch :code | rebase :code | for-each-repo :code | hook run :code | grep :code | shell :code | remote-ext :code | daemon :code | instaweb :code | send-email :code | filter-repo :code",
  ],
]);
