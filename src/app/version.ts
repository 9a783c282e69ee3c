// The version of this package, as directories and the command line name it. A test holds it equal to package.json.

export const HEDDLE_VERSION = "0.1.0";
