import { describe, expect, it } from "vitest";
import { findPrefixBan } from "../../src/rules/banned-prefixes.js";

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
    ...[
      "brew sh",
      "brew sh -c",
      "jj util exec",
      "jj util exec --",
      "firebase emulators:exec",
      "heroku local",
      "poetry env use",
    ],
    ...[
      "npm pkg set",
      "npm pkg",
      "kubectl config set-credentials",
      "aws configure set",
      "tox exec",
      "tox exec --",
      "gem exec",
    ],
    ...[
      "go test -exec",
      "go build -toolexec",
      "go vet -vettool",
      "tcpdump -z",
      "split --filter",
      "curl -K",
      "apt-get -c",
      "cmake -E",
    ],
    ...[
      "rpm --eval",
      "cpio --rsh-command",
      "cloc --vcs",
      "code --command",
      "cargo --config",
      "helm template --post-renderer",
    ],
    ...[
      "dagger run",
      "moon run",
      "plz exec",
      "okteto exec",
      "devcontainer exec",
      "chruby-exec",
      "netlify dev:exec",
      "foo repl",
    ],
    ...[
      "zx",
      "esno",
      "jbang",
      "stap",
      "dtrace",
      "duckdb",
      "scl enable",
      "php artisan tinker",
      "uwsgi",
      "supervisord",
      "dotenvx run",
    ],
  ])("bans %s, after which any command may follow", (line) => {
    expect(findPrefixBan(line.split(" "))).toBeTypeOf("string");
  });

  it.each([
    ...["aws s3 ls", "helm plugin list", "gh extension list", "kubectl config get-contexts"],
    ...["vitest run", "dagger run ls", "brew install", "jj log", "firebase deploy", "heroku logs", "tox -e py312 lint"],
  ])("allows %s", (line) => {
    expect(findPrefixBan(line.split(" "))).toBeUndefined();
  });

  it("allows a prefix that determines the command", () => {
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

  it("bans a prefix that is too ambiguous", () => {
    const options = Array.from({ length: 10 }, (_value, at) => [`--x${at}`, `${at}`]).flat();
    expect(findPrefixBan(["uv", ...options.slice(0, 8), "sync"])).toBeUndefined();
    expect(findPrefixBan(["uv", ...options, "sync"])).toBeTypeOf("string");
  });

  it("bans an empty prefix", () => {
    expect([findPrefixBan([]), findPrefixBan([""])]).toEqual(["the prefix is empty", "the prefix is empty"]);
  });
});
