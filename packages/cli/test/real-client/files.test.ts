import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { exec, inTurn } from "./calls.js";
import { CODEX_BINARY, useRealClient } from "./support.js";
import { openWiretap } from "./wiretap.js";

const patch = (...lines: string[]) =>
  exec(["apply_patch <<'EOF'", "*** Begin Patch", ...lines, "*** End Patch", "EOF"].join("\n"));
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
// One red pixel.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

describe.skipIf(CODEX_BINARY === undefined)("files of the real client (needs CODEX_BINARY)", () => {
  const client = useRealClient();
  const content = (path: string) => readFileSync(join(client.directory, path), "utf8");

  it("patches: an update, a file in new folders, a removal, a move", async () => {
    client.write("old.txt", "one\ntwo\n");
    client.write("gone.txt", "gone\n");
    client.write("from.txt", "a\nb\n");
    const results: string[] = [];
    await client.run(
      inTurn(
        [
          patch("*** Update File: old.txt", "@@", " one", "-two", "+TWO"),
          patch("*** Add File: new/deep/ünï.txt", "+hello"),
          patch("*** Delete File: gone.txt"),
          patch("*** Update File: from.txt", "*** Move to: moved/to.txt", "@@", " a", "-b", "+B"),
        ],
        results,
      ),
    );
    expect(results.map((result) => /Success\. Updated the following files:\n(.*)/.exec(result)?.[1])).toEqual([
      "M old.txt",
      "A new/deep/ünï.txt",
      "D gone.txt",
      "M moved/to.txt",
    ]);
    expect(content("old.txt")).toBe("one\nTWO\n");
    expect(content("new/deep/ünï.txt")).toBe("hello\n");
    expect(content("moved/to.txt")).toBe("a\nB\n");
    expect(readdirSync(client.directory).sort()).toEqual(["moved", "new", "old.txt"]);
  });

  it("changes one line of a file of five megabytes", async () => {
    const lines = Array.from({ length: 500_000 }, (_, index) => `${String(index).padStart(9, "0")}\n`);
    client.write("big.txt", lines.join(""));
    await client.run(inTurn([patch("*** Update File: big.txt", "@@", "-000250000", "+changed")]));
    lines[250_000] = "changed\n";
    expect(sha256(readFileSync(join(client.directory, "big.txt")))).toBe(sha256(Buffer.from(lines.join(""))));
  });

  it("leaves everything as it was when a patch does not fit", async () => {
    client.write("old.txt", "one\n");
    const results: string[] = [];
    await client.run(
      inTurn([patch("*** Add File: new.txt", "+new", "*** Update File: old.txt", "@@", "-other", "+TWO")], results),
    );
    expect(results[0]).toContain("Failed to find expected lines");
    expect(content("old.txt")).toBe("one\n");
    expect(existsSync(join(client.directory, "new.txt"))).toBe(false);
  });

  it("reads the instructions of each folder from the root of the repository on", async () => {
    mkdirSync(join(client.directory, ".git"));
    client.write("AGENTS.md", "instructions-of-the-root\n");
    client.write("sub/AGENTS.md", "instructions-of-the-folder\n");
    const [first] = await client.run(inTurn([]), { cwd: join(client.directory, "sub") });
    expect(first).toMatch(/instructions-of-the-root.*instructions-of-the-folder/s);
  });

  it("finds skills", async () => {
    client.write(
      ".agents/skills/knot/SKILL.md",
      "---\nname: knot\ndescription: Ties the knot of the test.\n---\nTie.\n",
    );
    const wiretap = await openWiretap(client.url);
    client.onEnd(() => wiretap.close());
    const [first] = await client.run(inTurn([]), { url: wiretap.url });
    expect(first).toContain("knot: Ties the knot of the test.");
    expect(wiretap.passed.map(({ method }) => method)).toEqual(
      expect.arrayContaining(["fs/canonicalize", "fs/walk", "fs/readFile"]),
    );
  });

  it("shows an image to the model", async () => {
    client.write("dot.png", Buffer.from(PNG, "base64"));
    const results: string[] = [];
    await client.run(
      inTurn(
        ["dot.png", "none.png"].map((path) => ({ name: "view_image", args: { path } })),
        results,
      ),
    );
    expect(JSON.parse(results[0]!)).toEqual([
      expect.objectContaining({ type: "input_image", image_url: `data:image/png;base64,${PNG}` }),
    ]);
    expect(results[1]).toContain("No such file or directory");
  });
});
