/** One way to run the marker program `zap`; `ZAP` stands for its absolute path. */
export interface Variant {
  readonly way: string;
  readonly argv: readonly string[];
  /** A program that has to be there. */
  readonly needs: string | undefined;
}

export const bash = (way: string, scripts: readonly string[], needs?: string): Variant[] =>
  scripts.map((script) => ({ way, argv: ["bash", "-c", script], needs }));

export const shell = (way: string, name: string, scripts: readonly string[], flag = "-c"): Variant[] =>
  scripts.map((script) => ({ way, argv: [name, flag, script], needs: name }));
