// Turns: a conversation for vendors that know two speakers, who take turns. Results of tools are the user's words there.

import type { GuardedMessage } from "../guard/guarded.js";

export interface Turn {
  readonly speaker: "user" | "assistant";
  readonly messages: readonly GuardedMessage[];
}

/** What follows on each other from one speaker is one turn. */
export function turnsOf(messages: readonly GuardedMessage[]): readonly Turn[] {
  const turns: { readonly speaker: Turn["speaker"]; readonly messages: GuardedMessage[] }[] = [];
  for (const message of messages) {
    const speaker = message.role === "assistant" ? "assistant" : "user";
    const turn = turns.at(-1);
    if (turn?.speaker === speaker) turn.messages.push(message);
    else turns.push({ speaker, messages: [message] });
  }
  return turns;
}
