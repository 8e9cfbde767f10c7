import { lookupName, plainName } from "./program-name.js";

const toNames = (lines: readonly string[]): ReadonlySet<string> => new Set(lines.join(" ").split(" "));

/** Programs that run nothing that they are given and load nothing that a script has just written. */
const QUIET: ReadonlySet<string> = toNames([
  // shells
  ": [ [[ test true false cd pwd pushd popd dirs echo print printf read export readonly local declare typeset unset shift return",
  "exit break continue wait fg bg kill disown umask ulimit times type which whence where help getopts shopt",
  "setopt unsetopt unalias suspend logout caller string math count contains esac fi done case for select in function",
  // files and text
  "cat tac nl od head tail wc sum cksum b2sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shuf uniq comm",
  "ptx tsort cut paste join tr expand unexpand ls dir vdir dircolors rm shred mkfifo readlink tee",
  "rmdir unlink chgrp chmod chown df du stat sync truncate basename dirname pathchk mktemp realpath id logname whoami",
  "groups users who date uname hostname uptime sleep factor seq numfmt expr yes nproc arch printenv tty fmt fold base32 base64",
  "basenc rev col column colrm look hexdump xxd strings file grep egrep fgrep rg diff cmp colordiff eza exa tree jq",
  "yq xq gron glow zcat xzcat iconv",
  "dos2unix unix2dos lsblk findmnt blkid dmesg lsof fuser ps top htop pgrep pidof free vmstat iostat",
  "pkill killall renice cal bc tldr clear reset tput getconf locale getent nm objdump readelf ldd size addr2line",
  "lsattr getfacl inotifywait tokei scc envsubst",
  // hosts
  "curl wget http https ping dig host nslookup whois ifconfig route ss netstat systemctl journalctl hostnamectl timedatectl sw_vers pbcopy pbpaste",
]);

/** Tools that run none of their plain arguments. Their options, and what they read, may be code. */
const TOOLS: ReadonlySet<string> = toNames([
  "python python2 python3 pypy node nodejs deno bun tsx ruby irb perl php lua luajit rscript r julia tclsh expect osascript elixir erl",
  "awk gawk mawk nawk sed ed ex vi vim nvim view less more man nano emacs code gdb lldb psql mysql sqlite3 mongosh",
  "ghc java javac jar kotlin kotlinc scala swift swiftc rustc gcc g++ cc c++ clang clang++ ld dotnet go gofmt cargo rustup rustfmt",
  "npm pnpm yarn tsc eslint prettier biome jest vitest mocha ava playwright cypress webpack rollup vite esbuild turbo next",
  "pip pip2 pip3 pipenv poetry pdm uv hatch rye pipx conda mamba pytest mypy ruff black isort flake8 pylint coverage tox nox pyright",
  "rake rails rspec rubocop gem bundle composer phpunit mvn mvnw gradle gradlew sbt lein ant bazel make gmake ninja cmake ctest meson",
  "terraform tofu pulumi autoconf automake configure pkg-config mix stack cabal opam dune zig nim dart flutter",
  "docker docker-compose podman kubectl helm minikube kind aws az gcloud gsutil heroku fly vercel netlify wrangler firebase redis-cli",
  "gh glab hg svn jj brew apt apt-get dpkg dnf yum apk pacman touch mkdir gzip gunzip bzip2 bunzip2 xz unxz lzma zstd lz4 brotli",
  "cp mv ln install dd sort split csplit tar zip unzip 7z ar cpio rsync scp sftp patch rename openssl gpg crontab pg_dump",
  "ag ack bat delta cloc strip objcopy iptables ip rpm nix asdf rbenv pyenv nvm fnm mise history hash let complete compgen bind bindkey mapfile readarray",
]);

/** Whether it runs none of its plain arguments, as commands. */
export const isPlainProgram = (program: string): boolean => has(QUIET, program) || has(TOOLS, program);

/** Whether no argument and no input of it is code. */
export const isQuietProgram = (program: string): boolean => has(QUIET, program);

const has = (names: ReadonlySet<string>, program: string): boolean =>
  names.has(lookupName(program)) || names.has(plainName(program));
