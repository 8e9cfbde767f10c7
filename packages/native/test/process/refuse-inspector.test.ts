import { expect, it } from "vitest";
import { withoutInspector } from "../../src/process/refuse-inspector.js";

it.each([
  ["--inspect", ""],
  ["--inspect-brk=0.0.0.0:1 --max-old-space-size=4096", "--max-old-space-size=4096"],
  ["--no-warnings --inspect-port 9230 --inspect-wait --trace-exit", "--no-warnings --trace-exit"],
  ['--inspect_port=0 "--inspect=0" --debug-port 7 --inspect-publish-uid=http', ""],
  ['--require "/a dir/--inspect.cjs" --inspect', '--require "/a dir/--inspect.cjs"'],
  ["--enable-source-maps  --require ./inspect.cjs", "--enable-source-maps --require ./inspect.cjs"],
  ["--no-inspect", "--no-inspect"],
  ["--debug-arraybuffer-allocations", "--debug-arraybuffer-allocations"],
])("removes the inspector options from %j", (options, kept) => {
  expect(withoutInspector(options)).toBe(kept);
});
