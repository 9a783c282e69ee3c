import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Threaded and child-process tests run the built package: vitest transforms nothing outside its own process.
    globalSetup: ["test/build-once.ts"],
    // Forks, not threads: tests open LMDB and native locks, which belong to a process.
    pool: "forks",
    // Much of the suite waits for children, disks and timers: on two cores two workers take two thirds of the time of one.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    coverage: {
      provider: "v8",
      include: ["src/kernel/**/*.ts"],
      reporter: ["text-summary", "html"],
    },
  },
});
