/** Rules of one gate. */
export const MAX_GATE_RULES = 4096;
/** Characters of all words of the rules of one gate. */
export const MAX_GATE_RULE_CHARACTERS = 256 * 1024;
/** Words of a program that are judged; what follows is not compared with any rule. */
export const MAX_JUDGED_WORDS = 4096;
