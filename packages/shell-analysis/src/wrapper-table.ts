import type { OptionTable } from "./options.js";

/** How the command after a wrapper is found: options, operands, then the command. */
export interface Wrapper extends OptionTable {
  /** Operands before the command. */
  readonly operands?: number;
  /** `NAME=value` may come before the command. */
  readonly hasAssignments?: boolean;
  /** Names of options whose value is a script, separated by spaces. */
  readonly scripts?: string;
  /** The rest of the arguments is also run as one script. */
  readonly isJoined?: boolean;
  /** Without a command it runs a shell. */
  readonly isShell?: boolean;
  /** It runs what it reads, whatever its arguments. */
  readonly isInput?: boolean;
  /** Options may follow operands. */
  readonly isMixed?: boolean;
  /** Its options are many and poorly documented: an unknown one only makes every suffix of the arguments a guess. */
  readonly isLoose?: boolean;
}

/** Options of `su` and `runuser`, which have several forms. */
export const SU_OPTIONS: OptionTable = {
  short: "mpw:g:G:lc:fs:PhVu:",
  long: "preserve-environment whitelist-environment= group= supp-group= login command= session-command= fast shell= pty user= no-pty",
};

const SETARCH: Wrapper = {
  isShell: true,
  short: "BFILRSTXZ3vhVp:",
  long: "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose list show? pid=",
};

/** Names of `setarch` that are architectures. */
const ARCHITECTURES =
  "linux32 linux64 i386 i486 i586 i686 athlon x86_64 uname26 ppc ppc32 ppc64 sparc sparc64 mips mips64 s390 s390x arm armh aarch64 parisc";

const NPX: Wrapper = {
  isLoose: true,
  short: "p:c:yqw:n:",
  long: "package= call= yes no-install no quiet workspace= workspaces include-workspace-root ignore-existing bun",
  scripts: "c call",
};

/** Shell keywords before a command, which take no options. */
const WORDS = "noglob nocorrect - builtin then else elif do if while until { ( ! and or not begin";

/** Programs that run the rest of their arguments and have no options, or none that matter. */
const PLAIN =
  "unbuffer torify fakechroot eatmydata catchsegv chronic ifne lckdo setuidgid envuidgid pgrphack nosudo winpty gtime-run";

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    sudo: {
      isShell: true,
      hasAssignments: true,
      short: "ABbC:c:D:Eeg:HhiKklnNPp:R:r:SsT:t:U:u:vVa:",
      long: "askpass bell background close-from= login-class= chdir= preserve-env? edit group= set-home host= login remove-timestamp reset-timestamp list non-interactive no-update preserve-groups prompt= chroot= role= stdin shell type= command-timeout= other-user= user= validate auth-type=",
    },
    doas: { isShell: true, short: "C:Lnsu:a:" },
    pkexec: { long: "user= disable-internal-agent keep-cwd" },
    time: { short: "pf:o:avqVlh", long: "portability format= output= append verbose quiet" },
    gtime: { short: "pf:o:avqV", long: "portability format= output= append verbose quiet" },
    timeout: { short: "k:s:vfp", long: "preserve-status foreground kill-after= signal= verbose", operands: 1 },
    nice: { short: "n:0123456789", long: "adjustment=" },
    ionice: { short: "c:n:p:P:tu:hV", long: "class= classdata= pid= pgid= ignore uid=" },
    chrt: {
      short: "bdfiorRT:P:D:ampvhV",
      long: "batch deadline fifo idle other rr reset-on-fork sched-runtime= sched-period= sched-deadline= all-tasks max pid verbose",
      operands: 1,
    },
    taskset: { short: "apchV", long: "all-tasks pid cpu-list", operands: 1 },
    nohup: { short: "p:" },
    setsid: { short: "cfwhV", long: "ctty fork wait" },
    stdbuf: { short: "i:o:e:", long: "input= output= error=" },
    chroot: { short: "g:G:u:n", isShell: true, operands: 1, long: "groups= userspec= skip-chdir" },
    unshare: {
      isShell: true,
      short: "muinpUCTfrcR:w:S:G:hV",
      long: "mount? uts? ipc? net? pid? user? cgroup? time? fork map-user= map-group= map-root-user map-current-user map-auto map-users= map-groups= kill-child? mount-proc? propagation= setgroups= keep-caps root= wd= setuid= setgid= monotonic= boottime= mount-binfmt? load-interp= owner=",
    },
    nsenter: {
      isShell: true,
      short: "at:m::u::i::n::p::C::U::T::S:G:r::w::W:FZN:ehVc",
      long: "all target= mount? uts? ipc? net? pid? cgroup? user? time? setuid= setgid= preserve-credentials root? wd? wdns= no-fork follow-context env net-socket= join-cgroup keep-caps user-parent",
    },
    "systemd-run": {
      isShell: true,
      short: "hH:M:u:p:rdE:tPqGSC:",
      long: "no-ask-password user system host= machine= scope unit= property= description= slice= slice-inherit expand-environment= no-block remain-after-exit wait send-sighup service-type= uid= gid= nice= working-directory= same-dir root-directory= same-root-dir setenv= pty pty-late pipe quiet verbose job-mode= ignore-failure background= no-pager json= collect shell path-property= socket-property= on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= on-timezone-change on-clock-change timer-property= capsule=",
    },
    "systemd-inhibit": { long: "what= who= why= mode= list no-pager no-legend no-ask-password", short: "h" },
    "systemd-cat": { short: "ht:p:", long: "identifier= priority= stderr-priority= level-prefix= namespace=" },
    run0: {
      isShell: true,
      short: "u:g:D:hV",
      long: "user= group= nice= chdir= setenv= background= machine= unit= property= description= slice= slice-inherit shell-prompt-prefix= lightweight= area= via-shell empower pty pipe no-ask-password",
    },
    strace: {
      short: "hVDfFI:b:e:P:p:u:zZa:ikno:Aqrs:tTvxX:yYcCO:S:U:wdE:",
      long: "env= attach= user= detach-on= daemonize? follow-forks output-separately interruptible= trace= signal= status= trace-path= trace-fds= successful-only failed-only columns= abbrev= verbose= raw= read= write= quiet= silent= silence= kvm= decode-fds? decode-pids= instruction-pointer stack-traces? stack-trace-frame-limit= syscall-number output= output-append-mode relative-timestamps? string-limit= absolute-timestamps? timestamps? syscall-times? no-abbrev strings-in-hex? const-print-style= summary-only summary summary-syscall-overhead= summary-sort-by= summary-columns= summary-wall-clock inject= fault= debug seccomp-bpf tips? argv0= arg-names secontext? syscall-limit= kill-on-exit always-show-pid",
    },
    ltrace: {
      short: "a:A:bcCD:e:fF:hiLl:n:o:p:rs:StTu:Vw:x:",
      long: "align= config= demangle library= no-signals output= where= indent=",
    },
    watch: {
      short: "bcCd::eghn:pq:rs:tvwx",
      long: "beep color no-color differences? errexit chgexit equexit= interval= precise no-rerun shotsdir= no-title no-wrap exec",
      isJoined: true,
    },
    flock: {
      short: "sexunw:W:E:oc:FhV",
      long: "shared exclusive unlock nonblock nb timeout= wait= conflict-exit-code= close command= no-fork verbose start= length= fcntl",
      operands: 1,
      scripts: "c command",
      isMixed: true,
    },
    script: {
      isShell: true,
      isMixed: true,
      short: "I:O:B:T:t::m:ac:efE:o:qhV",
      long: "log-in= log-out= log-io= log-timing= timing? logging-format= append command= return flush force echo= output-limit= quiet",
      operands: 1,
      scripts: "c command",
    },
    scriptlive: { isShell: true, short: "i:I:B:t:T:c:d:m:E:hV", long: "command=", scripts: "c command", isLoose: true },
    ssh: {
      isShell: true,
      isJoined: true,
      isMixed: true,
      operands: 1,
      short: "46AaB:b:Cc:D:E:e:F:fGgI:i:J:KkL:l:MmO:No:P:p:Q:qR:S:sTtVvW:w:XxYy",
    },
    command: { short: "pvV" },
    exec: { short: "cla:" },
    busybox: { long: "list list-full install", short: "s" },
    toybox: { long: "long" },
    caffeinate: { short: "dimsut:w:" },
    arch: { short: "cd:e:", isLoose: true },
    fakeroot: { short: "l:s:i:ub:hv", long: "lib= faked= unknown-is-real fd-base= foreground" },
    rlwrap: { short: "a::b:cC:D:e:f:F:g:hH:iIl:mM:nNo:O:p::P:q:rRs:S:t:TuUvw:W:xXy:z:", isLoose: true },
    "xvfb-run": {
      short: "ae:f:hln:p:s:w:",
      long: "auto-display auto-servernum error-file= auth-file= listen-tcp server-num= xauth-protocol= server-args= wait=",
    },
    "dbus-run-session": { long: "dbus-daemon= config-file=" },
    "dbus-launch": {
      long: "auto-syntax binary-syntax close-stderr exit-with-session exit-with-x11 autolaunch= config-file= csh-syntax sh-syntax",
    },
    proxychains: { short: "qf:" },
    proxychains4: { short: "qf:" },
    tsocks: {},
    setpriv: {
      short: "dhV",
      long: "dump nnp no-new-privs ambient-caps= inh-caps= bounding-set= ruid= euid= rgid= egid= reuid= regid= clear-groups keep-groups init-groups groups= list-caps securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= landlock-access= landlock-rule= seccomp-filter= reset-env",
    },
    runcon: { short: "ct:u:r:l:", operands: 1, long: "compute type= user= role= range=" },
    prlimit: {
      short: "p:o:c::d::e::f::i::l::m::n::q::r::s::t::u::v::x::y::hV",
      long: "pid= output= noheadings raw verbose core? data? nice? fsize? sigpending? memlock? rss? nofile? msgqueue? rtprio? stack? cpu? nproc? as? locks? rttime?",
    },
    choom: { short: "n:p:hV", long: "adjust= pid=" },
    numactl: {
      short: "hsHi:N:C:m:P:p:w:lS:f:L:o:M:t:ady:b:",
      long: "show hardware interleave= preferred= preferred-many= physcpubind= cpunodebind= membind= weighted-interleave= localalloc all balancing",
    },
    setarch: { ...SETARCH, operands: 1, isMixed: true },
    cpulimit: {
      short: "l:p:e:c:zibfvqm",
      long: "limit= pid= exe= path= lazy include-children background foreground verbose monitor-forks",
    },
    firejail: { isShell: true, isLoose: true },
    "dumb-init": { short: "r:cvhV", long: "rewrite= single-child verbose" },
    tini: { short: "p:e:vwghsl" },
    catatonit: { short: "gPLV" },
    gosu: { operands: 1 },
    "su-exec": { operands: 1 },
    sg: { operands: 1, scripts: "c", short: "c:", isJoined: true, isMixed: true },
    newgrp: { operands: 1, scripts: "c", short: "c:", isShell: true, isMixed: true },
    entr: { short: "acdnprsxz", isJoined: true },
    at: { isInput: true },
    batch: { isInput: true },
    parallel: {
      isLoose: true,
      isJoined: true,
      short: "j:a:I:S:N:n:L:s:P:C:d:E:X0kmqrtuvVD:",
      long: "jobs= arg-file= joblog= results= delay= timeout= colsep= delimiter= load= retries= halt= tagstring= sshlogin= workdir= env= keep-order bar progress eta dry-run tag line-buffer verbose null quote pipe will-cite no-run-if-empty silent group ungroup xargs",
    },
    sem: { isLoose: true, isJoined: true, short: "j:" },
    chpst: { short: "u:U:b:e:/:C:n:lLm:d:o:p:f:c:vP012" },
    softlimit: { short: "m:d:s:l:a:o:p:f:c:r:t:" },
    envdir: { operands: 1 },
    setlock: { short: "nNxX", operands: 1 },
    logsave: { short: "asv", operands: 1 },
    daemonize: { short: "ac:e:E:l:o:p:u:v" },
    valgrind: { isLoose: true, short: "hqvsd" },
    heaptrack: { isLoose: true, short: "dr" },
    faketime: { short: "mpf:", long: "exclude-monotonic", operands: 1 },
    datefudge: { short: "s", operands: 1 },
    cgexec: { short: "g:h", long: "sticky" },
    "aa-exec": { short: "p:n:idvh", long: "profile= namespace= immediate debug verbose" },
    debconf: { short: "f:p:o:", long: "frontend= priority= owner= terse" },
    hyperfine: { isLoose: true, isJoined: true },
    watchexec: { isLoose: true, isJoined: true },
    nodemon: { isLoose: true, isJoined: true },
    "cross-env": { hasAssignments: true },
    "cross-env-shell": { hasAssignments: true, isJoined: true },
    "ssh-agent": { short: "ac:DdE:kO:P:st:", isLoose: true },
    autossh: { isLoose: true, isJoined: true, short: "M:fV" },
    rsh: { isLoose: true, isJoined: true, operands: 1, short: "l:" },
    mosh: { isLoose: true, operands: 1, short: "46ap:" },
    sshpass: { short: "f:d:p:eP:vhV" },
    pdsh: { isLoose: true, isJoined: true },
    npx: NPX,
    bunx: NPX,
    pnpx: NPX,
    uvx: { isLoose: true, long: "from= with= python=", short: "p:w:" },
    coreutils: {},
    repeat: { operands: 1 },
    torsocks: { short: "du:p:aiq", long: "shell user= pass= port= address= isolate debug quiet" },
    "run-one": {},
    "run-this-one": {},
    bsub: { isLoose: true, isJoined: true },
    ...Object.fromEntries(WORDS.split(" ").map((word) => [word, { isLoose: true }])),
    ...Object.fromEntries(ARCHITECTURES.split(" ").map((name) => [name, SETARCH])),
    ...Object.fromEntries(PLAIN.split(" ").map((word) => [word, { isLoose: true }])),
  }),
);

/** Programs that are runners whatever their first word is. */
const ALWAYS =
  "agetty alacritty ansible aws-vault bwrap callgrind capsh chamber chokidar concurrently daemon direnv doppler dotenv dotenvx env-cmd envchain exec-helper fbterm foot gdbserver gnome-terminal keychain kitty konsole mpiexec mpirun nc ncat netcat npm-run-all nq onchange op proot pssh qsub reflex rr sbatch scl socat srun start-stop-daemon systemd-nspawn tcpserver tcpsvd teller torchrun ts tsp urxvt xterm";

/** Programs that run a command after one of these words; `*`: after any. Their own options are not distinguished. */
export const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ...Object.fromEntries(ALWAYS.split(" ").map((name) => [name, ["*"]])),
    npm: ["exec", "x"],
    pnpm: ["exec", "dlx", "x"],
    yarn: ["exec", "dlx", "run"],
    bun: ["x", "run", "exec"],
    uv: ["run", "tool"],
    poetry: ["run", "shell"],
    pipenv: ["run", "shell"],
    pipx: ["run"],
    pdm: ["run"],
    hatch: ["run", "env"],
    rye: ["run"],
    pixi: ["run", "exec", "x"],
    conda: ["run"],
    mamba: ["run"],
    micromamba: ["run"],
    bundle: ["exec"],
    bundler: ["exec"],
    rbenv: ["exec"],
    pyenv: ["exec"],
    nodenv: ["exec"],
    rvm: ["do", "exec"],
    chruby: ["*"],
    asdf: ["exec"],
    mise: ["exec", "x", "run"],
    rtx: ["exec", "x"],
    volta: ["run"],
    fnm: ["exec"],
    nvm: ["exec", "run"],
    corepack: ["*"],
    opam: ["exec"],
    stack: ["exec", "run"],
    cabal: ["exec"],
    dune: ["exec"],
    rustup: ["run"],
    cargo: ["watch", "run"],
    nix: ["run", "shell", "develop", "-c"],
    "nix-shell": ["*"],
    guix: ["shell", "environment"],
    devbox: ["run", "shell"],
    docker: ["run", "exec", "create", "compose", "container", "service"],
    podman: ["run", "exec", "create", "unshare", "container", "compose"],
    nerdctl: ["run", "exec", "create", "compose"],
    "docker-compose": ["run", "exec"],
    "podman-compose": ["run", "exec"],
    buildah: ["run", "unshare"],
    kubectl: ["exec", "run", "debug", "plugin"],
    oc: ["exec", "run", "rsh", "debug"],
    k3s: ["kubectl", "crictl"],
    lxc: ["exec"],
    incus: ["exec"],
    "lxc-attach": ["*"],
    "lxc-execute": ["*"],
    machinectl: ["shell"],
    ctr: ["run", "exec", "tasks"],
    crictl: ["exec"],
    runc: ["exec", "run"],
    toolbox: ["run"],
    distrobox: ["enter"],
    flatpak: ["run", "enter"],
    "flatpak-spawn": ["*"],
    snap: ["run"],
    vagrant: ["ssh"],
    multipass: ["exec"],
    limactl: ["shell"],
    lima: ["*"],
    wsl: ["*"],
    adb: ["shell"],
    heroku: ["run"],
    fly: ["ssh", "console"],
    flyctl: ["ssh", "console"],
    gcloud: ["ssh"],
    tsh: ["ssh"],
    ip: ["exec", "vrf"],
    perf: ["*"],
    tmux: ["*"],
    screen: ["*"],
    zellij: ["run", "action"],
    dtach: ["*"],
    abduco: ["*"],
    bpftrace: ["*"],
    meson: ["devenv"],
    lerna: ["exec"],
    nx: ["exec"],
    foreman: ["run"],
    overmind: ["run"],
    honcho: ["run"],
    dvc: ["run", "stage", "exp"],
    etckeeper: ["vcs"],
    mr: ["run"],
    repo: ["forall"],
    west: ["forall"],
  }),
);
