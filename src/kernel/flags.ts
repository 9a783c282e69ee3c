// Flags: behaviour of heddle itself that a replay could notice. An execution records the flags it started with and keeps
// them for life. Numbers are never reused; a retired one stays listed with what it meant.

/** The flags new executions start with. None yet: this is the first format. */
export const CURRENT_FLAGS: readonly number[] = [];
