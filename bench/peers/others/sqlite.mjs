// SQLite: what its `synchronous` setting means for a database with a write-ahead log, as all here are.

const NAMES = ["OFF", "NORMAL", "FULL", "EXTRA"];
const FULL = NAMES.indexOf("FULL");

export const synchronousName = (setting) => NAMES[setting];

/** NORMAL flushes at checkpoints only: a loss of power can take the commits since the last one. */
export const durabilityOf = (setting) => (setting >= FULL ? "flush" : "commit");
