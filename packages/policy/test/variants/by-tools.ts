// biome-ignore-all lint/suspicious/noTemplateCurlyInString: scripts of a shell
import { bash, type Variant } from "./variant.js";

const by = (needs: string, scripts: readonly string[]): Variant[] => bash("by an option of a tool", scripts, needs);

/** Options of wrappers, of tools for hosts and of interpreters that name a program or contain a script. */
export const BY_TOOLS: readonly Variant[] = [
  ...by("env", ["Z=ap env -S 'z${Z} x'", "env Z=ap env -S 'z${Z} x'"]),
  ...by("bash", ["bash -c '. \"$1\"' _ <(echo zap x)", "bash -c 'bash \"$0\"' <(echo zap x)"]),
  ...by("parallel", [
    "parallel --will-cite --ssh zap -S h echo ::: 1; true",
    "printf 'Seq\\tHost\\tStarttime\\tJobRuntime\\tSend\\tReceive\\tExitval\\tSignal\\tCommand\\n1\\t:\\t1\\t0\\t0\\t0\\t1\\t0\\tzap x\\n' > l; parallel --will-cite --retry-failed --joblog l; true",
  ]),
  ...by("hyperfine", ["hyperfine -r1 --parameter-list a zap,true '{a} x'", "hyperfine -r1 --shell=ZAP true; true"]),
  ...by("npx", ["npx --no-install -c x --script-shell=ZAP; true"]),
  ...by("npm", [
    "mkdir -p node_modules/q; echo '{}' > node_modules/q/package.json; npm explore q -- zap x; true",
    "npm --git=zap install git+ssh://h/r; true",
  ]),
  ...by("hg", ["hg clone -e 'zap x' ssh://h/r; true", "hg clone --ssh zap ssh://h/r; true"]),
  ...by("fdfind", ["touch q; fdfind -uxzap"]),
  ...by("gs", ["gs -q -dNOSAFER -dNODISPLAY -c '(%pipe%zap x) (r) file closefile quit'; true"]),
  ...by("perl", ["perl - zap <<< 'system shift'"]),
  ...by("node", ['node - zap <<< \'require("child_process").spawnSync(process.argv[2],["x"])\'']),
  ...by("tclsh", ["echo 'exec {*}$argv' > f; tclsh f zap x"]),
];
