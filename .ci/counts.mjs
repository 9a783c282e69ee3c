// Prints "N passed, N failed" from the test runner's JSON report and exits 0 only when something passed and nothing
// failed. A test file that did not load has no tests to count: it counts as one failure, or a broken import would read
// as "0 failed".

import { readFileSync } from "node:fs";

const report = readReport(process.argv[2]);
const unloaded = report.testResults.filter(
  (file) => file.status === "failed" && file.assertionResults.length === 0,
);
for (const file of unloaded) console.error(`did not load: ${file.name}`);

const passed = report.numPassedTests;
const failed = report.numFailedTests + unloaded.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    console.error(`The test runner left no readable report: ${error.message}`);
    process.exit(1);
  }
}
