import { CommandError, EXIT } from "./exit-codes.js";

/** @throws CommandError naming the option if this is not the base URL of a registry */
export function checkRegistryUrl(option: string, text: string): void {
  if (/^https?:\/\/[^/]/i.test(text) && URL.canParse(text)) return;
  const expected = "http://HOST or https://HOST, optionally with a port and a path";
  throw new CommandError(`${option} ${JSON.stringify(text)}: expected ${expected}`, EXIT.usage);
}
