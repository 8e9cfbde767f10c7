import { explainPatchCommand, parsePatchScript } from "@codex/apply-patch";
import { describe, expect, it } from "vitest";

const PATCH = "*** Begin Patch\n*** Delete File: a\n*** End Patch";

describe("scripts that are only a patch", () => {
  it.each<[script: string, directory?: string]>([
    [`apply_patch <<'EOF'\n${PATCH}\nEOF\n`],
    [`apply_patch <<EOF\n${PATCH}\nEOF`],
    [`apply_patch <<"EOF"\n${PATCH}\nEOF\n\n`],
    [`applypatch <<'END-1'\n${PATCH}\nEND-1\n`],
    [`\n  apply_patch   <<  'EOF'\n${PATCH}\nEOF`],
    [`apply_patch<<'EOF'\n${PATCH}\nEOF`],
    [`apply_patch <<-EOF\n${PATCH.replaceAll(/^/gm, "\t")}\n\tEOF\n`],
    [`FOO=1 apply_patch <<'EOF'\n${PATCH}\nEOF\n`],
    [`apply_patch <<'EOF'\n${PATCH}`],
    [`cd d && apply_patch <<'EOF'\n${PATCH}\nEOF\n`, "d"],
    [`cd "d e" && apply_patch <<'EOF'\n${PATCH}\nEOF\n`, "d e"],
    [`cd '/x/$y' &&\napply_patch <<'EOF'\n${PATCH}\nEOF\n`, "/x/$y"],
  ])("%j", (script, directory) => {
    expect(parsePatchScript(script)).toEqual({ kind: "patch", text: PATCH, directory });
  });

  it("takes the text as it stands", () => {
    const body = PATCH.replace("a", "$HOME `ls` \\$x");
    expect(parsePatchScript(`apply_patch <<EOF\n${body}\nEOF\n`)).toMatchObject({ text: body });
  });

  it.each(["~", '"$HOME"', "$d", "*", "a{b,c}"])("refuses `cd %s`, which only a shell understands", (directory) => {
    const parsed = parsePatchScript(`cd ${directory} && apply_patch <<'EOF'\n${PATCH}\nEOF\n`);
    expect(parsed).toMatchObject({ kind: "refused", reason: expect.stringContaining(`cd ${directory}`) });
  });
});

describe("scripts with more", () => {
  it.each([
    `apply_patch <<'EOF'\n${PATCH}\nEOF\necho hi\n`,
    `echo hi\napply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `apply_patch <<'EOF' && echo hi\n${PATCH}\nEOF\n`,
    `apply_patch <<'EOF' >/dev/null\n${PATCH}\nEOF\n`,
    `cd d; apply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `cd d\napply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `cd d e && apply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `cd $(touch x) && apply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `# why\napply_patch <<'EOF'\n${PATCH}\nEOF\n`,
    `apply_patch '${PATCH}'`,
    `cat <<'EOF' | apply_patch\n${PATCH}\nEOF\n`,
    `if true; then apply_patch <<'EOF'\n${PATCH}\nEOF\nfi\n`,
  ])("are left to the shell, and explained: %j", (script) => {
    expect(parsePatchScript(script)).toBeUndefined();
    expect(explainPatchCommand(script)).toContain("nothing but `apply_patch <<'EOF'`");
  });

  it("is linear where blank lines repeat", () => {
    expect(explainPatchCommand(`${"\n".repeat(2_000_000)}echo`)).toBeUndefined();
    expect(parsePatchScript(`${"\n".repeat(2_000_000)}echo`)).toBeUndefined();
  });

  it.each(["echo apply_patch", "grep apply_patch src", "./apply_patch x", "apply_patches", "ls"])(
    "%s does not call it",
    (script) => {
      expect(parsePatchScript(script)).toBeUndefined();
      expect(explainPatchCommand(script)).toBeUndefined();
    },
  );
});
