const toNames = (lines: readonly string[]): ReadonlySet<string> => new Set(lines.join(" ").split(" "));

/** Tools that build, check and fetch a project: they load its settings, and some of its code. */
export const BUILD_TOOLS: ReadonlySet<string> = toNames([
  "npm pnpm yarn tsc eslint prettier biome jest vitest mocha pip pip2 pip3 pipenv poetry pdm uv hatch rye pipx conda mamba",
  "pytest mypy ruff black gem bundle composer terraform tofu packer pulumi",
]);

/** Tools for versions, hosts and packages. */
export const HOST_TOOLS: ReadonlySet<string> = toNames([
  "git hg svn jj cvs bzr gh glab git-lfs apt apt-get apt-cache apt-mark aptitude dpkg dpkg-query dnf yum zypper pacman apk",
  "brew port snap flatpak choco scoop winget curl wget http https httpie xh ping ping6 traceroute mtr dig host nslookup whois",
  "ifconfig route ss netstat arp ethtool ssh-keygen ssh-add docker docker-compose podman podman-compose buildah skopeo nerdctl",
  "kubectl helm kustomize minikube kind k9s oc aws az gcloud gsutil bq doctl heroku fly flyctl vercel netlify wrangler firebase",
  "supabase stripe redis-cli pg_dump pg_restore mysqldump createdb systemctl journalctl service",
  "loginctl timedatectl hostnamectl useradd userdel usermod groupadd passwd chpasswd atq atrm notify-send say logger wall write",
  "sendmail pbcopy pbpaste xclip xsel wl-copy wl-paste sw_vers remove-item get-childitem get-content set-content copy-item move-item",
  "write-host write-output select-object where-object dir del copy move md rd",
]);

/** Programs that run nothing that they are given, except what the tables of wrappers and option commands describe. */
export const QUIET_PROGRAMS: ReadonlySet<string> = new Set([
  ...BUILD_TOOLS,
  ...HOST_TOOLS,
  ...[
    // shells
    ": [ [[ test true false cd pwd pushd popd dirs echo print printf read export readonly local declare typeset unset set shift return",
    "exit break continue wait jobs fg bg kill disown umask ulimit times type which whence where hash history help let getopts shopt",
    "setopt unsetopt bindkey unalias suspend logout caller functions autoload string math count contains abbr enable fc esac fi done",
    "case for select in function",
    // files and text
    "cat tac nl od head tail split csplit wc sum cksum b2sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum sort shuf uniq comm",
    "ptx tsort cut paste join tr expand unexpand ls dir vdir dircolors cp dd install mv rm shred link ln mkdir mkfifo mknod readlink",
    "rmdir unlink chgrp chmod chown touch df du stat sync truncate basename dirname pathchk mktemp realpath tee id logname whoami",
    "groups users who date uname hostname uptime sleep factor seq numfmt expr yes nproc arch printenv tty stty fmt fold base32 base64",
    "basenc rev col column colrm look hexdump xxd strings file grep egrep fgrep rg ag ack diff cmp colordiff delta bat eza exa tree jq",
    "yq xq gron glow sed cpio gzip gunzip zcat bzip2 bunzip2 xz unxz xzcat lzma zstd lz4 brotli pigz unzip 7z 7za ar ranlib iconv",
    "dos2unix unix2dos locate updatedb mount umount lsblk findmnt blkid dmesg lsof fuser ps top htop pgrep pidof free vmstat iostat",
    "kill pkill killall renice cal bc whatis tldr clear reset tput getconf locale getent nm objdump readelf ldd size addr2line strip",
    "objcopy lsattr chattr getfacl setfacl getfattr setfattr inotifywait detox cloc tokei scc envsubst",
  ]
    .join(" ")
    .split(" "),
]);

/** Languages and tools that run none of their plain arguments, but code in others. */
export const PLAIN_TOOLS: ReadonlySet<string> = toNames([
  // languages and builds
  "python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ruby irb perl php lua luajit rscript r julia tclsh expect osascript",
  "elixir erl iex ghci ghc java javac jar jshell kotlin kotlinc scala groovy swift swiftc rustc gcc g++ cc c++ clang clang++ cpp ld",
  "lld dotnet mono go gofmt cargo rustup rustfmt clippy-driver ts-node ava playwright cypress webpack rollup vite esbuild turbo next",
  "nuxt astro svelte-kit ng nest parcel swc babel tox nox unittest pyright isort flake8 pylint coverage sphinx-build mkdocs jupyter",
  "rake rails rspec rubocop mvn mvnw gradle gradlew sbt lein ant bazel bazelisk buck buck2 make gmake ninja cmake ctest cpack meson",
  "autoconf automake configure m4 pkg-config phpunit artisan mix rebar3 stack cabal opam dune zig nim nimble crystal shards dart",
  "flutter pub tflint",
  // versions, hosts and packages
  "tig rpm nix nix-env nix-build nix-store ip nmap iptables nft ufw scp sftp rsync ssh-copy-id openssl gpg gpg2 age pass crontab zip",
  "vi vim nvim view ex nano emacs code subl micro hx codex gdb lldb psql mysql sqlite3 mongo mongosh fossil tar gtar bsdtar update-alternatives asdf rbenv pyenv nvm volta",
  "fnm mise sdk mail mutt defaults launchctl diskutil",
]);

/**
 * Programs that run none of their plain arguments. Their options, and what they read, may be code. What is in none of the tables may run
 * anything it is given, and every suffix of its arguments is a guess.
 */
export const PLAIN_PROGRAMS: ReadonlySet<string> = new Set([
  ...QUIET_PROGRAMS,
  ...PLAIN_TOOLS,
  ..."pr diff3 sdiff patch ed rename fx awk gawk mawk nawk less more most dc units man apropos info xdg-open open ld as".split(
    " ",
  ),
]);
