// Reports put together by hand, for tests of what is made of them.

import type { Report, Row } from "../../bench/harness/report.js";

export function rowOf(id: string, unit: Row["unit"], ratio: number): Row {
  const figures = { median: 1, errorPercent: 1, p50Ms: 1, p99Ms: 2, sharedBy: 1 };
  return {
    id,
    unit,
    sync: "flush",
    inFlight: 1,
    rounds: 8,
    heddle: { name: "heddle", ...figures },
    against: { name: "limit", ...figures },
    ratio: { median: ratio, mad: 0, min: ratio, max: ratio },
  };
}

export function reportOf(rows: Row[]): Report {
  return {
    format: 1,
    date: "2026-01-01T00:00:00.000Z",
    quick: false,
    versions: { heddle: "0.1.0", node: "20.20.0", lmdb: "3.5.6", tinybench: "6.2.3" },
    machine: {
      cores: 2,
      model: "Some processor",
      memoryGiB: 8,
      system: "Linux 6",
      fileSystem: "ext4",
      diskFlushMs: 1,
      loadPerCore: 0,
    },
    rows,
  };
}
