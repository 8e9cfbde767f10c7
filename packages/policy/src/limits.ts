/** Largest rule that is proposed to a person, in bytes of its tokens. */
export const MAX_PROPOSED_RULE_BYTES = 4096;
