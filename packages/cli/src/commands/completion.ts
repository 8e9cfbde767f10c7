import type { Command } from "commander";
import { renderBash } from "../completion/bash.js";
import { describeCommands } from "../completion/describe.js";
import { renderFish } from "../completion/fish.js";
import { renderZsh } from "../completion/zsh.js";

const RENDER = { bash: renderBash, zsh: renderZsh, fish: renderFish };

/** Prints a completion script generated from the command tree. */
export function runCompletion(shell: keyof typeof RENDER, program: Command): void {
  process.stdout.write(RENDER[shell](describeCommands(program)));
}
