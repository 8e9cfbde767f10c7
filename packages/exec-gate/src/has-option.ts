import type { OptionName } from "./gate-rule.js";

/** Whether arguments have an option; what follows `--` is none. */
export function hasOption(args: readonly string[], { letter, name }: OptionName): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  return options.some(
    (arg) => (/^-[^-]/.test(arg) && arg.includes(letter, 1)) || (arg.length > 2 && `--${name}`.startsWith(arg)),
  );
}
