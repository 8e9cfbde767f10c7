import type { Command } from "commander";
import { describeCommands, renderBash, renderFish, renderZsh } from "../completion/index.js";

const RENDER = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** Prints a completion script generated from the command tree. */
export function runCompletion(shell: keyof typeof RENDER, program: Command): void {
  process.stdout.write(RENDER[shell](describeCommands(program)));
}
