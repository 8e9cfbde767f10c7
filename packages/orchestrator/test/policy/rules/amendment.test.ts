import { describe, expect, it } from "vitest";
import { findPrefixBan, parseRulePolicy, proposeAmendment } from "../../../src/policy/rules/index.js";

describe("findPrefixBan", () => {
  it.each(
    [
      ...["python", "python3", "python3.12 -", "python -c", "python3 -m", "/usr/bin/python3 -c", "py", "pypy3", "node"],
      ...[
        "node -e",
        "node --eval",
        "nodejs -p",
        "deno run",
        "deno eval",
        "bun run",
        "perl -e",
        "perl",
        "ruby -e",
        "php -r",
      ],
      ...[
        "lua -e",
        "osascript",
        "osascript -e",
        "awk",
        "bash",
        "bash -c",
        "bash -lc",
        "/bin/bash -lc",
        "sh -c",
        "zsh -lc",
      ],
      ...[
        "bash --norc -i",
        "pwsh -Command",
        "powershell.exe -c",
        "cmd /c",
        "env",
        "env -i",
        "env A=1",
        "sudo",
        "sudo -u root",
      ],
      ...[
        "sudo bash",
        "sudo bash -c",
        "sudo python3",
        "env A=1 bash -c",
        "time",
        "nice -n 5",
        "nohup",
        "timeout 5",
        "xargs",
      ],
      ...[
        "xargs -n1",
        "xargs sh -c",
        "eval",
        "eval ls",
        "watch ls",
        "ssh host",
        "ssh host ls",
        "command",
        "exec",
        "find",
      ],
      ...[
        "find .",
        "busybox",
        "busybox sh",
        "git",
        "git -C dir",
        "git -c a=b",
        "/usr/bin/git",
        "sudo git",
        "source",
        ".",
      ],
      ...["trap x EXIT", "alias", "su", "su bob", "su -c ls"],
    ].map((line) => line.split(" ")),
  )("bans %j", (...prefix) => expect(findPrefixBan(prefix)).toBeTypeOf("string"));

  it.each(
    [
      ...["ls", "npm test", "git push", "git status -s", "python script.py", "python3 -m pytest", "bash build.sh"],
      ...[
        "bash -c ls",
        "node server.js",
        "sudo ls",
        "sudo -u root systemctl restart",
        "env A=1 make all",
        "timeout 5 npm test",
      ],
      ...["xargs grep", "make all", "cargo build", "gitk", "pythonista", "docker build", "time make all"],
      ...["deno run main.ts", "sudo git push"],
    ].map((line) => line.split(" ")),
  )("allows %j", (...prefix) => expect(findPrefixBan(prefix)).toBeUndefined());

  it.each([
    [
      "runners",
      "uv",
      "uv run",
      "uv --offline run",
      "uv run --with x",
      "poetry run",
      "poetry -C d run",
      "pdm run",
      "pipenv run",
      "hatch run",
    ],
    [
      "packages",
      "npm",
      "npm exec",
      "npm x",
      "npm -w a exec",
      "npm exec --",
      "npm run",
      "npm init",
      "pnpm exec",
      "pnpm dlx",
      "pnpm",
      "yarn",
      "yarn dlx",
    ],
    [
      "one-off packages",
      "npx",
      "npx -y",
      "npx -p x",
      "npx --package=x",
      "bunx",
      "bun x",
      "uvx",
      "uv tool run",
      "pipx run",
      "corepack",
      "deno task",
    ],
    [
      "what is behind them",
      "uv run python",
      "uv run bash -c",
      "npm exec -- node",
      "npx tsx",
      "poetry run python3",
      "docker exec web sh",
      "ssh-agent bash",
      "sudo make",
      "env -i uv run",
    ],
    [
      "containers",
      "docker",
      "docker run",
      "docker run alpine",
      "docker run --rm -it alpine",
      "docker run -v /:/x alpine",
      "docker exec",
      "docker exec -it web",
      "docker --context c exec web",
      "docker compose exec",
      "docker compose",
      "docker container run",
      "podman run",
      "docker-compose run",
    ],
    [
      "clusters",
      "kubectl",
      "kubectl exec",
      "kubectl exec pod",
      "kubectl exec pod --",
      "kubectl -n ns exec pod",
      "oc rsh",
      "lxc exec box",
      "vagrant ssh",
      "gcloud compute ssh",
    ],
    [
      "loaders",
      "/lib64/ld-linux-x86-64.so.2",
      "ld.so",
      "/lib/ld-musl-x86_64.so.1",
      "qemu-aarch64-static",
      "qemu-x86_64 -L x",
    ],
    ["wrappers", "timeout --unknown 5", "nohup -x ls", "setsid", "ionice -c 3", "chrt 5", "su-exec root", "flock f"],
    ["runners of the table of wrappers", "bwrap --bind / /", "nix-shell", "lxc-attach", "buildah run", "nerdctl exec"],
    [
      "git",
      "git bisect",
      "git bisect run",
      "git -C d bisect run",
      "git submodule",
      "git submodule foreach",
      "git submodule foreach ls",
      "git config",
      "git difftool",
      "git rebase",
      "git --no-pager",
      "git hook run",
    ],
    [
      "targets",
      "make",
      "gmake",
      "/usr/bin/make",
      "make -j8",
      "make -C dir",
      "make -f x",
      "make A=b",
      "just",
      "rake",
      "ninja",
      "gradle",
      "./gradlew",
      "mvn -q",
      "tox",
      "nox",
      "ansible-playbook",
    ],
    [
      "agents and sessions",
      "ssh-agent",
      "ssh-agent -t 5",
      "dbus-launch",
      "tmux",
      "tmux new",
      "screen",
      "crontab",
      "at now",
      "perf stat",
      "valgrind",
      "hyperfine",
      "direnv exec dir",
      "op run --",
    ],
    [
      "code in arguments",
      "sed",
      "sed -n",
      "sed -n 5p",
      "gsed",
      "/bin/sed",
      "find . -name x",
      "fd",
      "vim",
      "emacs",
      "psql",
      "sqlite3 x.db",
      "tar xf",
      "rsync",
      "socat",
      "less",
      "m4",
      "ed",
    ],
    [
      "interpreters",
      "python3.12",
      "python3.12 -u",
      "python3 -W ignore",
      "python3.11-dbg",
      "/opt/py/bin/python3.12",
      "pypy3.10",
      "node20",
      "lua5.4",
      "ruby3.2 -w",
      "php8.2",
      "perl5.36.0",
      "gawk",
      "awk -F ,",
      "gawk -v x=1",
      "julia",
      "guile",
      "node -r x",
      "perl -e print",
      "Python3",
      "PYTHON.EXE",
    ],
    [
      "shells",
      "fish",
      "dash",
      "ksh93",
      "mksh",
      "tcsh",
      "csh",
      "nu",
      "elvish",
      "bash -o pipefail",
      "bash5",
      "zsh-5.9",
      "fish -c",
    ],
    [
      "builds",
      "cargo",
      "go",
      "go run",
      "go generate",
      "dotnet",
      "dotnet run",
      "bundle exec",
      "rails runner",
      "stack exec",
      "nix run",
      "nix shell",
      "mise exec",
      "rustup run stable",
      "conda run",
      "conda run -n env",
    ],
  ])("bans %s", (_name, ...lines) => {
    const open = lines.filter((line) => findPrefixBan(line.split(" ")) === undefined);
    expect(open).toEqual([]);
  });

  it("allows what says what is run", () => {
    const lines = [
      ...[
        "uv run pytest",
        "uv sync",
        "uv pip list",
        "poetry run pytest -q",
        "poetry install",
        "npm exec eslint",
        "npm exec -- eslint",
      ],
      ...[
        "npm run build",
        "npm --prefix web run build",
        "npm ci",
        "npm install",
        "pnpm exec vitest",
        "pnpm build",
        "yarn build",
        "npx tsc",
      ],
      ...[
        "npx -y prettier",
        "docker ps",
        "docker compose up",
        "docker run --rm alpine ls",
        "docker exec -it web ls",
        "kubectl get pods",
      ],
      ...[
        "kubectl exec pod -- ls",
        "git bisect start",
        "git submodule update",
        "git -C dir status",
        "git log",
        "git commit -m",
        "git add",
      ],
      ...[
        "make test",
        "make -j8 test",
        "make -C dir test",
        "just build",
        "gradle build",
        "./gradlew test",
        "mvn test",
        "ssh-agent ls",
      ],
      ...[
        "cargo test",
        "cargo run",
        "go build",
        "go test",
        "go run ./cmd/x",
        "dotnet build",
        "pip install",
        "systemctl restart",
        "gh pr",
      ],
      ...[
        "python3.12 script.py",
        "python3 -u script.py",
        "python -m pytest",
        "python3.12 -m pip",
        "bash -x build.sh",
        "bash -o pipefail -c ls",
      ],
      ...[
        "ls",
        "cat",
        "grep -r",
        "curl",
        "jq",
        "tsc",
        "eslint",
        "pytest",
        "b3sum",
        "./run.sh",
        "vitest run",
        "touch",
        "rm",
      ],
    ];
    expect(lines.filter((line) => findPrefixBan(line.split(" ")) !== undefined)).toEqual([]);
  });

  it("asks for a longer prefix", () => {
    expect(findPrefixBan(["uv", "run"])).toBe(
      "`uv run` runs any command it is given; give a longer prefix, one that says what is run",
    );
    expect(findPrefixBan(["make", "-k"])).toMatch(/^`make` runs any task or file it is given; give a longer prefix/);
    expect(findPrefixBan(["sed", "-i"])).toMatch(/^`sed` runs code .* no prefix of it can be saved$/);
  });

  it("takes a prefix for open that can be read in too many ways", () => {
    const options = Array.from({ length: 10 }, (_value, at) => [`--x${at}`, `${at}`]).flat();
    expect(findPrefixBan(["uv", ...options.slice(0, 8), "sync"])).toBeUndefined();
    expect(findPrefixBan(["uv", ...options, "sync"])).toBeTypeOf("string");
  });

  it("bans what is empty", () => {
    expect([findPrefixBan([]), findPrefixBan([""])]).toEqual(["the prefix is empty", "the prefix is empty"]);
  });
});

describe("proposeAmendment", () => {
  const policy = parseRulePolicy([
    { file: "a.rules", text: 'prefix_rule(["ls"])\nprefix_rule(["npm", "publish"], decision="prompt")\n' },
  ]);
  const test = ["npm", "test"];

  it("takes what the model suggests when it allows every command", () => {
    const commands = [["grunt", "lint", "a"], ["grunt", "lint"], ["ls"]];
    expect(proposeAmendment({ policy, commands, suggested: ["grunt", "lint"], asking: test })).toEqual([
      "grunt",
      "lint",
    ]);
  });

  it.each([
    ["does not cover a command", [test, ["make"]], ["npm"]],
    ["does not match at all", [test], ["yarn"]],
    ["is banned", [["python3", "x.py"]], ["python3"]],
    ["is empty", [test], []],
    ["is weaker than a rule that asks", [["npm", "publish"], test], ["npm"]],
  ])("takes the command that asks when the suggestion %s", (_name, commands, suggested) => {
    const [asking = []] = commands.filter((command) => command[1] !== "publish");
    expect(proposeAmendment({ policy, commands, suggested, asking })).toEqual(asking);
  });

  it("takes the command that asks when nothing is suggested", () => {
    expect(proposeAmendment({ policy, commands: [["ls"], test], asking: test })).toEqual(test);
  });

  it.each([
    ["nothing asks", [test], undefined],
    ["a rule asks", [["npm", "publish"]], ["npm", "publish"]],
    ["the command leaves open what runs", [["sudo"]], ["sudo"]],
    ["nothing is to be amended", [], test],
  ])("proposes nothing when %s", (_name, commands, asking) => {
    expect(proposeAmendment({ policy, commands, asking })).toBeUndefined();
  });

  it("proposes nothing that a broken file may forbid", () => {
    const broken = parseRulePolicy([{ file: "a.rules", text: 'prefix_rule(["npm"], decision="deny")' }]);
    expect(proposeAmendment({ policy: broken, commands: [test], suggested: ["npm"], asking: test })).toBeUndefined();
  });
});
